package import Switchyard
package import SwitchyardBytes

/// The elements of the list answers to batch reads, queries and aggregations.
package enum FirestoreAnswers {
    /// One element of an answer to a batch read: a document, a missing document, or only a transaction's name.
    package struct BatchGetElement: Sendable, Equatable {
        package let document: DocumentSnapshot?
        package let readTime: Timestamp?
        package let transaction: String?

        package init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
            let object = try json.members(of: "an element of a batch read")
            readTime = try object.timestamp("readTime")
            transaction = try object.string("transaction")
            if let found = object.present("found") {
                document = try DocumentSnapshot(firestore: found, in: database)
            } else if let missing = try object.string("missing") {
                document = .missing(try database.path(ofName: missing))
            } else {
                document = nil
            }
        }
    }

    /// One element of an answer to a query. It may lack a document, and contain only a time or a transaction's name.
    package struct QueryElement: Sendable, Equatable {
        package let document: DocumentSnapshot?
        package let readTime: Timestamp?
        package let transaction: String?

        package init(firestore json: JSON, in database: FirestoreDatabase) throws(FirestoreFormatError) {
            var document: DocumentSnapshot?
            var readTime: Timestamp?
            var transaction: String?
            for member in try json.members(of: "an element of a query's answer").members {
                switch (member.key, member.value) {
                case ("document", let value): document = try DocumentSnapshot(firestore: value, in: database)
                case ("readTime", .string(let text)): readTime = try Timestamp(firestore: text)
                case ("transaction", .string(let text)): transaction = text
                default: break
                }
            }
            self.document = document
            self.readTime = readTime
            self.transaction = transaction
        }
    }

    /// The documents at which a collection group query can be divided.
    package static func dividers(
        firestore json: JSON, in database: FirestoreDatabase
    ) throws(FirestoreFormatError) -> [StoragePath] {
        try json.members(of: "an answer about parts").array("partitions").map { element throws(FirestoreFormatError) in
            let cursor = try element.members(of: "a place between parts")
            guard let name = try cursor.array("values").first?["referenceValue"]?.string else {
                throw FirestoreFormatError("a place between parts that is not a document")
            }
            return try database.path(ofName: name)
        }
    }

    /// The values of an aggregation, in the requested order.
    package static func aggregations(
        firestore json: JSON, count: Int, in database: FirestoreDatabase
    ) throws(FirestoreFormatError) -> [DocumentValue] {
        for element in json.array ?? [] {
            guard let fields = element["result"]?["aggregateFields"] else { continue }
            var values: [DocumentValue] = []
            for index in 0..<count {
                guard let value = fields[FirestoreQuery.alias(index)] else {
                    throw FirestoreFormatError("an aggregation that lacks a value")
                }
                values.append(try DocumentValue(firestore: value, in: database))
            }
            return values
        }
        throw FirestoreFormatError("an answer to an aggregation without a result")
    }
}
