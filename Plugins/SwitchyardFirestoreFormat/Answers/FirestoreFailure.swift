package import SwitchyardBytes

/// The refusal of a call: a code to branch on and the server's own text, which is for people only.
package struct FirestoreFailure: Error, Sendable, Hashable {
    package let status: FirestoreStatus
    /// May name indexes to create or rules that failed; empty when the server gave none.
    package let message: String
    /// The server's own word for a status that is none of Firestore's, where it gave one.
    package let foreignStatus: String?
    /// Whether the call never reached the documents: the project's API is switched off, its billing has ended, the API key
    /// is restricted, the database does not exist. It says nothing about what the call asked for.
    package let isAboutProject: Bool

    package init(
        _ status: FirestoreStatus, _ message: String, foreignStatus: String? = nil, isAboutProject: Bool = false
    ) {
        self.status = status
        self.message = message
        self.foreignStatus = foreignStatus
        self.isAboutProject = isAboutProject
    }

    /// The body of an answer with an HTTP error: `{"error": …}`, also as the only element of a list.
    ///
    /// A body that is something else comes from a gateway or a proxy and refuses nothing: it counts by the HTTP status as
    /// far as the server itself need not have said it, else as `.unavailable`. An unknown code is `.unknown`, and keeps its
    /// name as ``foreignStatus``.
    package init(body: some Collection<UInt8>, httpStatus: Int) {
        let json = try? JSON(
            parsing: body, options: JSONParsingOptions(duplicateKeys: .keepLast, loneSurrogates: .replace))
        if let error = json?["error"] ?? json?[0]?["error"], error.object != nil {
            self.init(error: error, ifUnknown: .unknown)
        } else {
            self.init(
                FirestoreStatus(strangeHTTPStatus: httpStatus),
                "Something that is not Firestore, such as a gateway or proxy before it, answered with status \(httpStatus)."
            )
        }
    }

    /// The object under `error`, in a body or in a stream's message.
    ///
    /// - Parameter ifUnknown: What a missing or unknown code means: `.unknown` in answers, `.internal` on streams.
    package init(error: JSON, ifUnknown: FirestoreStatus) {
        let (name, message) = (error["status"]?.string, error["message"]?.string ?? "")
        let isAboutProject = Self.isAboutProject(error["details"]?.array ?? [], message)
        if let status = name.flatMap({ FirestoreStatus(name: $0) }) {
            self.init(status, message, isAboutProject: isAboutProject)
        } else {
            self.init(
                ifUnknown, message, foreignStatus: name.flatMap { Self.isWord($0) ? $0 : nil },
                isAboutProject: isAboutProject)
        }
    }

    /// Google's gate before every service gives its reasons under this domain; Firestore itself never does. A database that
    /// does not exist is told in words only.
    private static func isAboutProject(_ details: [JSON], _ message: String) -> Bool {
        details.contains { $0["domain"]?.string == "googleapis.com" && $0["reason"]?.string != nil }
            || message.hasPrefix("The database ") && message.contains(" does not exist for project ")
    }

    /// Spelled as such words are; anything else is text, and could say anything.
    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 60
            && text.utf8.allSatisfy { ($0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z")) || $0 == UInt8(ascii: "_") }
    }

    /// A `google.rpc.Status`, as in the cause of a removed target: a number, absent for none.
    package init(rpcStatus: JSON) {
        let message = rpcStatus["message"]?.string ?? ""
        self.init(
            FirestoreStatus(rawValue: rpcStatus["code"]?.int ?? 0) ?? .unknown, message,
            isAboutProject: Self.isAboutProject(rpcStatus["details"]?.array ?? [], message))
    }

    /// The body that tells it.
    package var body: JSON {
        .object(
            "error",
            ["code": .integer(Int64(status.httpStatus)), "message": .string(message), "status": .string(status.name)])
    }

    package var rpcStatus: JSON { ["code": .integer(Int64(status.rawValue)), "message": .string(message)] }
}
