package import Switchyard

/// Field paths use the format of ``FieldPath/description``: dotted, with backticks where needed.
extension FieldPath {
    package init(firestore text: String) throws(FirestoreFormatError) {
        do throws(StorageError) {
            try self.init(validating: text)
        } catch {
            throw FirestoreFormatError("a field path that is malformed")
        }
    }
}
