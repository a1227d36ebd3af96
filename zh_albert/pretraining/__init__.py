"""Pretraining on plain text: masked language modelling and sentence order."""
