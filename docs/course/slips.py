"""
slips
=======================

Text with :math:`\\hat x = (x, 1)`.
"""
print(1)
