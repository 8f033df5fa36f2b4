/// Holds the newest element; an element that replaces an unread one is merged with it.
struct Slot<Element: Sendable>: Sendable {
    private(set) var element: Element?
    private var isUnseen = false

    mutating func put(_ new: Element) {
        element = isUnseen ? Superseding.merge(new, over: element) : new
        isUnseen = true
    }

    /// Returns the element, which stays but counts as seen.
    mutating func look() -> Element? {
        isUnseen = false
        return element
    }

    mutating func take() -> Element? {
        defer { element = nil }
        return look()
    }
}
