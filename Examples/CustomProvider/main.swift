print("CustomProvider")
