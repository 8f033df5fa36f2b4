package import Switchyard
package import SwitchyardBytes

extension DocumentSnapshot {
    /// From a `Document` message with name, fields and times. An existing document without fields has no `fields` member.
    package init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        let object = try json.members(of: "a document")
        var path: StoragePath?
        var data = DocumentData()
        var createTime: Timestamp?
        var updateTime: Timestamp?
        for member in object.members {
            switch (member.key, member.value) {
            case ("name", .string(let name)): path = try database.path(ofName: name)
            case ("fields", .object(let fields)): data = try DocumentData(firestore: fields, in: database)
            case ("createTime", .string(let time)): createTime = try Timestamp(firestore: time)
            case ("updateTime", .string(let time)): updateTime = try Timestamp(firestore: time)
            case (_, .null): break
            case ("name", _), ("fields", _), ("createTime", _), ("updateTime", _):
                throw FirestoreFormatError("a document whose “\(member.key)” is of a wrong type")
            default: break
            }
        }
        guard let path else { throw FirestoreFormatError("a document without a name") }
        self.init(path: path, data: data, createTime: createTime, updateTime: updateTime)
    }

    /// The `Document` message; for a missing document, only its name.
    package func firestore(in database: FirestoreDatabase) -> JSON {
        var object: JSONObject = ["name": .string(database.resourceName(of: path))]
        if let data, !data.isEmpty { object["fields"] = .object(data.firestore(in: database)) }
        if let createTime { object["createTime"] = .string(createTime.firestoreText) }
        if let updateTime { object["updateTime"] = .string(updateTime.firestoreText) }
        return .object(object)
    }
}
