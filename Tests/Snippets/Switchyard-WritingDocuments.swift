struct NotEnough: Error {}
