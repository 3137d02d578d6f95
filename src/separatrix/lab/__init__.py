"""The lab: points in a plane, the perceptron step by step, and proofs about them, in a browser.

``separatrix lab`` serves it on this machine. The server keeps no state: a request carries its scene, and answers come
from the same functions as everywhere else in the package.
"""
