"""HTML that several tabs have in common: texts, numbers, bars, sections and figures.

Functions of strings and numbers, without Gradio; whatever a visitor typed comes out as text.
"""
