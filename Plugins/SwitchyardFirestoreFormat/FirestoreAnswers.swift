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
            if let found = object.nonNull("found") {
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
            let cursor = try element.members(of: "a partition cursor")
            guard let name = try cursor.array("values").first?["referenceValue"]?.string else {
                throw FirestoreFormatError("a partition cursor that is not a document")
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

/// The refusal of a call, with a code and the server's own text, which is only for people.
package struct FirestoreFailure: Error, Sendable, Hashable {
    package let status: FirestoreStatus
    /// May name missing indexes or failed rules; empty if the server sent no text.
    package let message: String
    /// The server's own status name, if it is not one of Firestore's.
    package let foreignStatus: String?
    /// The reason for a problem with the project or its key, such as `API_KEY_INVALID`. It comes from Google's front end, never
    /// from Firestore itself, which then has not seen the call.
    package let reason: String?
    /// Whether the server was there but could not answer, as while it starts anew or behind a gateway that has lost it.
    package private(set) var isPassing: Bool

    package init(_ status: FirestoreStatus, _ message: String, foreignStatus: String? = nil, reason: String? = nil) {
        self.status = status
        self.message = message
        self.foreignStatus = foreignStatus
        self.reason = reason
        isPassing = status == .unavailable
    }

    /// The same failure with another message.
    package func saying(_ message: String) -> FirestoreFailure {
        FirestoreFailure(status, message, foreignStatus: foreignStatus, reason: reason)
    }

    /// From the body of an answer with an HTTP error: `{"error": …}`, also as the only element of a list.
    ///
    /// Any other body comes from a gateway or a proxy and refuses nothing. Its HTTP status is used only if it can come from a
    /// proxy, otherwise the failure is `.unavailable`. An unknown code is `.unknown`, and its name is kept in
    /// ``foreignStatus``.
    ///
    /// - Parameter address: The address of the request.
    package init(body: some Collection<UInt8>, httpStatus: Int, from address: String? = nil) {
        let json = try? JSON(
            parsing: body, options: JSONParsingOptions(duplicateKeys: .keepLast, loneSurrogates: .replace))
        if let error = json?["error"] ?? json?[0]?["error"], error.object != nil {
            self.init(error: error, ifUnknown: .unknown)
        } else {
            let place = address.map { "“\($0)”" } ?? "Firestore's address"
            let answer = body.isWebPage ? "a web page" : "nothing that Firestore says"
            self.init(
                FirestoreStatus(strangeHTTPStatus: httpStatus),
                "\(place) answered with \(answer) (HTTP \(httpStatus)). Check hosts and emulators in "
                    + "Firebase's configuration, and that no proxy or sign-in page of the network is in between.")
            isPassing = [502, 503].contains(httpStatus)
        }
    }

    /// From the object under `error`, in a body or in a stream's message.
    ///
    /// - Parameter ifUnknown: The status for a missing or unknown code: `.unknown` in answers, `.internal` on streams.
    package init(error: JSON, ifUnknown: FirestoreStatus) {
        let (name, message) = (error["status"]?.string, error["message"]?.string ?? "")
        let reason = Self.reason(in: error["details"])
        if let status = name.flatMap({ FirestoreStatus(name: $0) }) {
            self.init(status, message, reason: reason)
        } else {
            self.init(
                ifUnknown, message, foreignStatus: name.flatMap { Self.isWord($0) ? $0 : nil }, reason: reason)
        }
    }

    private static func reason(in details: JSON?) -> String? {
        (details?.array ?? []).lazy.filter { ($0["domain"]?.string ?? gate) == gate }
            .compactMap { $0["reason"]?.string }.first { isWord($0) }
    }

    private static let gate = "googleapis.com"

    /// Whether the text is spelled like a code. Any other text could contain anything.
    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 60
            && text.utf8.allSatisfy { ($0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z")) || $0 == UInt8(ascii: "_") }
    }

    /// From a `google.rpc.Status`, as in the cause of a removed target. A missing code number means zero.
    package init(rpcStatus: JSON) {
        self.init(
            FirestoreStatus(rawValue: rpcStatus["code"]?.int ?? 0) ?? .unknown, rpcStatus["message"]?.string ?? "",
            reason: Self.reason(in: rpcStatus["details"]))
    }

    /// The body that contains it.
    package var body: JSON {
        .object(
            "error",
            ["code": .integer(Int64(status.httpStatus)), "message": .string(message), "status": .string(status.name)])
    }

    package var rpcStatus: JSON { ["code": .integer(Int64(status.rawValue)), "message": .string(message)] }
}

/// The status codes of all Google APIs, by number.
package enum FirestoreStatus: Int, Sendable, Hashable, CaseIterable {
    case ok = 0
    case cancelled, unknown, invalidArgument, deadlineExceeded, notFound, alreadyExists, permissionDenied
    case resourceExhausted, failedPrecondition, aborted, outOfRange, unimplemented, `internal`, unavailable, dataLoss
    case unauthenticated

    /// The name in error bodies, such as `NOT_FOUND`.
    package var name: String {
        switch self {
        case .ok: "OK"
        case .cancelled: "CANCELLED"
        case .unknown: "UNKNOWN"
        case .invalidArgument: "INVALID_ARGUMENT"
        case .deadlineExceeded: "DEADLINE_EXCEEDED"
        case .notFound: "NOT_FOUND"
        case .alreadyExists: "ALREADY_EXISTS"
        case .permissionDenied: "PERMISSION_DENIED"
        case .resourceExhausted: "RESOURCE_EXHAUSTED"
        case .failedPrecondition: "FAILED_PRECONDITION"
        case .aborted: "ABORTED"
        case .outOfRange: "OUT_OF_RANGE"
        case .unimplemented: "UNIMPLEMENTED"
        case .internal: "INTERNAL"
        case .unavailable: "UNAVAILABLE"
        case .dataLoss: "DATA_LOSS"
        case .unauthenticated: "UNAUTHENTICATED"
        }
    }

    package init?(name: String) {
        guard let status = FirestoreStatus.allCases.first(where: { $0.name == name }) else { return nil }
        self = status
    }

    /// The HTTP status of an answer with this code. Several codes share one, so it cannot be reversed.
    package var httpStatus: Int {
        switch self {
        case .ok: 200
        case .invalidArgument, .failedPrecondition, .outOfRange: 400
        case .unauthenticated: 401
        case .permissionDenied: 403
        case .notFound: 404
        case .alreadyExists, .aborted: 409
        case .resourceExhausted: 429
        case .cancelled: 499
        case .unknown, .internal, .dataLoss: 500
        case .unimplemented: 501
        case .unavailable: 503
        case .deadlineExceeded: 504
        }
    }

    /// The status for an answer that is not Firestore's. Of these, only a request that is too large would fail again.
    package init(strangeHTTPStatus status: Int) {
        self =
            switch status {
            case 401: .unauthenticated
            case 408, 504: .deadlineExceeded
            case 413: .invalidArgument
            case 429: .resourceExhausted
            default: .unavailable
            }
    }
}
