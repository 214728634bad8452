"""Text that compression looks at activations with when the user gives none: short and long, plain and odd."""

from __future__ import annotations

TEXTS = (
    "Yes.",
    "Thanks!",
    "What time is it?",
    "Invoice 4471 is overdue.",
    "the weather turned cold again last night",
    "Please send the signed contract to our office in Lisbon before Friday, 17:00.",
    "I was charged twice for the same order and nobody answers the phone.",
    "Terrible battery, lovely screen, and the camera is somewhere in between.",
    "Where can I change the language of the app, and does it work offline?",
    "She opened the window, listened for a while, and then closed it without a word.",
    "The committee approved the budget on the second vote, by nineteen to four.",
    "Mix the flour with two eggs, 150 ml of milk and a pinch of salt; let it rest for an hour.",
    "An old lighthouse keeper teaches a runaway girl to read in this slow but moving drama.",
    "Not bad, not good, just two hours that I will never get back.",
    "BREAKING: markets fall 3.2% after the central bank's surprise decision!!!",
    "def add(a, b): return a + b  # returns the sum",
    "Der Zug nach Wien fährt heute leider zwanzig Minuten später ab.",
    "¿Dónde está la biblioteca más cercana?",
    "Les enfants jouaient dans le jardin pendant que la pluie commençait à tomber.",
    "今日はとても良い天気ですね。",
    "Photosynthesis converts light into chemical energy that is stored in sugars, which plants then use to grow.",
    "In 1969 two people walked on the Moon while a third circled above them, waiting.",
    "Try restarting the router; if the light stays red, hold the button for ten seconds and wait.",
    "Our flight was cancelled, the hotel lost the booking, and still it was the best holiday we ever had, because "
    "everyone we met went out of their way to help us find a bed, a meal and, in the end, a boat back home.",
    "The theory is simple: if supply grows faster than demand, prices fall; if it grows more slowly, they rise. What "
    "the theory leaves out is everything that people believe about tomorrow, which is why forecasts so often go wrong.",
    "Dear team, attached you will find the minutes of yesterday's meeting. Please check the action items against "
    "your name, correct whatever I misheard, and reply by noon so that the final version can go out today. Best, Ana",
    "He scored twice in the first half, was booked in the second, and limped off to a standing ovation with ten "
    "minutes left to play; the replacement, a teenager on her debut, needed one touch to settle the match for good.",
    "👍 great!! would buy again 😀",
    "http://example.com/docs?page=2",
    "a",
    "42",
    "How do vaccines work?",
)
