public import Switchyard

/// Edits from a screen: they show at once, and are sent on their own.
extension TypedSnapshot.Row {
    /// Writes one field, without anybody waiting: `row.edit(\.done, to: true)`.
    ///
    /// The storage shows it at once, so a ``LiveQuery`` does, with `isPending` until the server has confirmed it.
    /// - Parameter onFailure: Told why the edit was refused, after it has been undone.
    /// - Returns: Ends when the server has taken or refused it.
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
