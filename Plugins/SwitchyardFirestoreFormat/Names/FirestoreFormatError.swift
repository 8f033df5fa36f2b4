import Switchyard

/// Why a text is not what Firestore's JSON allows. Says which part, never what stood there: it may be somebody's document.
package struct FirestoreFormatError: Error, Hashable, CustomStringConvertible {
    /// What is wrong, as the end of a sentence: "expected a string in “name”", "a write without an operation".
    package let message: String

    package init(_ message: String) { self.message = message }

    package var description: String { "Unreadable Firestore data: \(message)." }
}

extension FirestoreFormatError {
    /// What the rules of the portable API refuse cannot be read either.
    static func checking<T>(_ body: () throws(StorageError) -> T) throws(FirestoreFormatError) -> T {
        do throws(StorageError) {
            return try body()
        } catch {
            throw FirestoreFormatError(error.message)
        }
    }
}
