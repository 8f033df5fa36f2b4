/// An element that says how it differs from the one before it, and so must know if that one was skipped.
///
/// A ``SnapshotStream`` drops a state that its consumer has not fetched when a newer one comes. An element of this kind
/// is asked first, so that its differences are always those against what the consumer saw last.
public protocol SupersedingElement: Sendable {
    /// This element for a consumer that never saw `unseen`, the one directly before it.
    func superseding(_ unseen: Self) -> Self
}

/// The way from an element of which only the static type is known to what ``SupersedingElement`` asks of it.
enum Superseding {
    static func merge<Element: Sendable>(_ new: Element, over unseen: Element?) -> Element {
        guard let unseen, let element = new as? any SupersedingElement else { return new }
        return merge(element, over: unseen) as? Element ?? new
    }

    private static func merge<Element: SupersedingElement>(_ new: Element, over unseen: Any) -> Any {
        (unseen as? Element).map { new.superseding($0) } ?? new
    }
}
