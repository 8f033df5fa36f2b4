func askForProfile() {}
func tryAgain(after pause: Duration?) {}
