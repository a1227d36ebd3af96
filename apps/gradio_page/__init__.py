"""The parts that steer Gradio, each with its reason.

Gradio draws the boxes and carries events between the browser and Python. These parts add what it
lacks:

- ``layout``: the same areas, boxes and buttons on every tab.
- ``latest``: the answer to what a visitor did last is the one shown; Gradio starts and ends answers
  in any order.
- ``text_tab`` and ``job_tab``: the events of the two kinds of tabs.
- ``url_state``, with ``page.js``: the tab and its texts stand in the address, behind the "#", which
  browsers do not send.
- ``stream.js``: answers arrive once and in order, also in a busy browser.
- ``composing.js``: what an input method composes is no text yet.
- ``keyboard.js``: arrow keys in tabs and choices, and their names for screen readers.
- ``copying.js``: what is copied from an answer is the visitor's own text.
- ``answers.js``: an answer to something else than what stands in the boxes looks like an old one,
  and screen readers hear of a new one.
- ``requests``: a page for each language behind ``?lang=``. Gradio's translations reach labels only,
  and its own words follow the browser's language.
- ``uploads``: only the page itself may send something, files of the kinds that the tabs read, and
  not too many.
- ``environment``: nothing calls another computer, and files are removed with the page; those of a
  page that was killed, when the next one starts.
- ``server``: one process on 127.0.0.1, with ``page.css``, ``jobs.css`` and ``inside.css``; no font
  is fetched.
"""
