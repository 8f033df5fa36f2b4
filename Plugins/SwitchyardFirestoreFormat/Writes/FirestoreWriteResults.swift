package import Switchyard
package import SwitchyardBytes

/// The answer to a commit, and each answer on the stream of writes.
package struct FirestoreWriteResults: Sendable, Hashable {
    package struct Result: Sendable, Hashable {
        /// The document's version after the write: older than the commit if nothing changed, `nil` for deletions.
        package let updateTime: Timestamp?
        /// One result per transform, in order; null for array transforms.
        package let transformResults: [DocumentValue]

        package init(updateTime: Timestamp? = nil, transformResults: [DocumentValue] = []) {
            self.updateTime = updateTime
            self.transformResults = transformResults
        }
    }

    /// One result per write, in order. Empty in the answer to a handshake.
    package let results: [Result]
    package let commitTime: Timestamp?
    /// On the stream only; returned with the next request.
    package let streamToken: String?

    package init(results: [Result], commitTime: Timestamp?, streamToken: String? = nil) {
        self.results = results
        self.commitTime = commitTime
        self.streamToken = streamToken
    }

    package init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
        let object = try json.members(of: "an answer to a commit")
        var results: [Result] = []
        for element in try object.array("writeResults") {
            let result = try element.members(of: "the result of a write")
            var values: [DocumentValue] = []
            for value in try result.array("transformResults") {
                values.append(try DocumentValue(firestore: value, in: database))
            }
            results.append(Result(updateTime: try result.timestamp("updateTime"), transformResults: values))
        }
        self.init(
            results: results, commitTime: try object.timestamp("commitTime"),
            streamToken: try object.string("streamToken"))
    }

    package func firestore(in database: FirestoreDatabase) -> JSON {
        var object = JSONObject()
        if let streamToken { object["streamToken"] = .string(streamToken) }
        if !results.isEmpty {
            object["writeResults"] = .array(
                results.map { result in
                    var message = JSONObject()
                    if let updateTime = result.updateTime { message["updateTime"] = .string(updateTime.firestoreText) }
                    if !result.transformResults.isEmpty {
                        message["transformResults"] = .array(result.transformResults.map { $0.firestore(in: database) })
                    }
                    return .object(message)
                })
        }
        if let commitTime { object["commitTime"] = .string(commitTime.firestoreText) }
        return .object(object)
    }
}
