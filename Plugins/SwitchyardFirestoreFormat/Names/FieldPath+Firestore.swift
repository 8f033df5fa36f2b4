package import Switchyard

/// Field paths travel in the form that ``FieldPath/description`` gives them: dotted, with back quotes where needed.
extension FieldPath {
    package init(firestore text: String) throws(FirestoreFormatError) {
        do throws(StorageError) {
            try self.init(validating: text)
        } catch {
            throw FirestoreFormatError("a field path that is malformed")
        }
    }
}
