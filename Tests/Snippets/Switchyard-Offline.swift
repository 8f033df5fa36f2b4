let receipt: WriteReceipt = { fatalError() }()
func showBadge(_ isShown: Bool) {}
