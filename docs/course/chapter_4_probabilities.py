"""
chapter_4_probabilities
=======================

Text with :math:`\\hat x = (x, 1)`.
"""
print(1)
