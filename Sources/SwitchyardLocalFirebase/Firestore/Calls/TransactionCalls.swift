import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat

/// Starts and rolls back transactions; `commit` also ends them.
extension FirestoreCall {
    func beginTransaction() throws(FirestoreFailure) -> JSON {
        try allow(["options"])
        let readOnly = body["options"]?["readOnly"]
        guard readOnly?["readTime"] == nil else {
            throw FirestoreFailure(.unimplemented, "The local server keeps no past versions to read from.")
        }
        return ["transaction": .string(database.begin(.init(isReadOnly: readOnly != nil)))]
    }

    func rollback() throws(FirestoreFailure) -> JSON {
        try allow(["transaction"])
        guard let id = body["transaction"]?.string else { throw .invalid("A rollback names its transaction.") }
        try database.rollBack(id)
        return [:]
    }
}
