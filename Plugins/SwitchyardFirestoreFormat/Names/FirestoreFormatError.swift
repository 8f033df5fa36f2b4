import Switchyard

/// Why a text is not valid in Firestore's JSON. Names the part, but never its contents, which may be from a user's document.
package struct FirestoreFormatError: Error, Hashable, CustomStringConvertible {
    /// The problem, as the end of a sentence: "expected a string in “name”", "a write without an operation".
    package let message: String

    package init(_ message: String) { self.message = message }

    package var description: String { "Unreadable Firestore data: \(message)." }
}

extension FirestoreFormatError {
    /// Converts an error of the portable API's validation, since what it refuses cannot be read.
    static func checking<T>(_ body: () throws(StorageError) -> T) throws(FirestoreFormatError) -> T {
        do throws(StorageError) {
            return try body()
        } catch {
            throw FirestoreFormatError(error.message)
        }
    }
}
