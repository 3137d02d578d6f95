"""Pictures, one function each, from arrays and facts; matplotlib is imported when one is drawn.

Every function takes ``ax=None``, draws into those axes or into new ones, and returns them.
"""
