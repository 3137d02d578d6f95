"""
chapter_1_prediction
=======================

Text with :math:`\\hat x = (x, 1)`.
"""
print(1)
