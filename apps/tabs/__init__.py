"""The tabs of the page, a folder each.

``tab.py`` lays a tab out and needs Gradio. The rest does not: ``strings.py`` holds what it says,
``answers.py`` what it answers to the values of its boxes, ``panels.py`` the HTML of its results,
``examples.csv`` texts to try, and ``job.py`` its long work.
"""
