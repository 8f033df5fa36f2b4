/// A place for one element that a newer one takes over; the newer one is told when nobody fetched the older.
struct Slot<Element: Sendable>: Sendable {
    private(set) var element: Element?
    private var isUnseen = false

    mutating func put(_ new: Element) {
        element = isUnseen ? Superseding.merge(new, over: element) : new
        isUnseen = true
    }

    /// The element, which stays but counts as seen.
    mutating func look() -> Element? {
        isUnseen = false
        return element
    }

    mutating func take() -> Element? {
        defer { element = nil }
        return look()
    }
}
