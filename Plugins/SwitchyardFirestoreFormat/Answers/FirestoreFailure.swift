package import SwitchyardBytes

/// The refusal of a call: a code to branch on and the server's own text, which is for people only.
package struct FirestoreFailure: Error, Sendable, Hashable {
    package let status: FirestoreStatus
    /// May name indexes to create or rules that failed; empty when the server gave none.
    package let message: String
    /// The server's own word for a status that is none of Firestore's, where it gave one.
    package let foreignStatus: String?
    /// The word for what is wrong with the project or its key, such as `API_KEY_INVALID`: Google's gate before every service
    /// gives it, Firestore itself never does. The call was not looked at then.
    package let reason: String?

    package init(_ status: FirestoreStatus, _ message: String, foreignStatus: String? = nil, reason: String? = nil) {
        self.status = status
        self.message = message
        self.foreignStatus = foreignStatus
        self.reason = reason
    }

    /// The same with another text.
    package func saying(_ message: String) -> FirestoreFailure {
        FirestoreFailure(status, message, foreignStatus: foreignStatus, reason: reason)
    }

    /// The body of an answer with an HTTP error: `{"error": …}`, also as the only element of a list.
    ///
    /// A body that is something else comes from a gateway or a proxy and refuses nothing: it counts by the HTTP status as
    /// far as the server itself need not have said it, else as `.unavailable`. An unknown code is `.unknown`, and keeps its
    /// name as ``foreignStatus``.
    ///
    /// - Parameter address: What was asked.
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
        }
    }

    /// The object under `error`, in a body or in a stream's message.
    ///
    /// - Parameter ifUnknown: What a missing or unknown code means: `.unknown` in answers, `.internal` on streams.
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

    /// Spelled as such words are; anything else is text, and could say anything.
    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 60
            && text.utf8.allSatisfy { ($0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z")) || $0 == UInt8(ascii: "_") }
    }

    /// A `google.rpc.Status`, as in the cause of a removed target: a number, absent for none.
    package init(rpcStatus: JSON) {
        self.init(
            FirestoreStatus(rawValue: rpcStatus["code"]?.int ?? 0) ?? .unknown, rpcStatus["message"]?.string ?? "",
            reason: Self.reason(in: rpcStatus["details"]))
    }

    /// The body that tells it.
    package var body: JSON {
        .object(
            "error",
            ["code": .integer(Int64(status.httpStatus)), "message": .string(message), "status": .string(status.name)])
    }

    package var rpcStatus: JSON { ["code": .integer(Int64(status.rawValue)), "message": .string(message)] }
}
