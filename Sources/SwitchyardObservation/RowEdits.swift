public import Switchyard

/// Edits from a screen: they show up at once and are sent in the background.
extension TypedSnapshot.Row {
    /// Writes one field without waiting: `row.edit(\.done, to: true)`.
    ///
    /// The storage, and thus a ``LiveQuery``, shows it at once, with `isPending` until the server has confirmed it.
    /// - Parameter onFailure: Called with the reason after a rejected edit has been undone.
    /// - Returns: A task that ends when the server has committed or rejected the edit.
    @MainActor @discardableResult
    public func edit<Field: Encodable & Sendable>(
        _ property: any KeyPath<Value, Field> & Sendable, to value: Field,
        onFailure: @escaping @MainActor (StorageError) -> Void = { _ in }
    ) -> Task<Void, Never> {
        let document = handle
        return Task {
            do throws(StorageError) {
                try await document.update(property, to: value).acknowledged()
            } catch {
                onFailure(error)
            }
        }
    }
}
