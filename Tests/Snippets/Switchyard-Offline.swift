let receipt: WriteReceipt = given()
func showBadge(_ isShown: Bool) {}
