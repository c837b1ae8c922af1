"Asking people: what to ask next, sessions in a terminal or on a page, their journals, and several people together."
