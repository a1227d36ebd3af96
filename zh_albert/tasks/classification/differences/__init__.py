"""Differences of two texts that look alike, found by rule: numbers, negations, opposites, order.

A small encoder hardly sees them: 小王打了小李 and 小李打了小王 have the same words
(docs/experiments/pairs.md).
"""
