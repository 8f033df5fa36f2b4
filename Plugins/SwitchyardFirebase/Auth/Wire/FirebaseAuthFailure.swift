import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// Why a call to Firebase's auth service failed, in the service's terms.
struct FirebaseAuthFailure: Error, Sendable {
    enum Kind: Sendable {
        /// `code` as in the service's tables, such as `EMAIL_EXISTS`; never the text that may follow it.
        case refused(code: String, status: Int)
        /// No answer, or one that the service did not write.
        case unanswered(TransportError?, status: Int?)
        /// The address is plain HTTP to another machine.
        case unsafeAddress
        case appCheck(any Error)
        /// An error that this client found, in the answer or before the call.
        case own(AuthError)
    }

    let kind: Kind
    var retryAfter: Duration?

    init(_ kind: Kind, retryAfter: Duration? = nil) {
        self.kind = kind
        self.retryAfter = retryAfter
    }

    static func refused(_ code: String) -> FirebaseAuthFailure {
        FirebaseAuthFailure(.refused(code: code, status: 200))
    }
    static func own(_ error: AuthError) -> FirebaseAuthFailure { FirebaseAuthFailure(.own(error)) }

    /// A success that lacks required values.
    static let unreadable = FirebaseAuthFailure(.unanswered(nil, status: nil))

    /// This client's own code: the service sends only text if it refuses an App Check token.
    static let appCheckRefusal = "INVALID_APP_CHECK_TOKEN"

    /// Whether the ID token was refused, independent of the call.
    var isAboutToken: Bool { code == "TOKEN_EXPIRED" || code == "INVALID_ID_TOKEN" }
    /// Whether the account or its session is gone.
    var endsSession: Bool { isAboutToken || code == "USER_NOT_FOUND" || code == "USER_DISABLED" }

    var code: String? { if case .refused(let code, _) = kind { code } else { nil } }

    /// The least pause before the same call may be sent again, if the answer shows that it was not carried out: a gateway did not
    /// reach the service.
    var pauseBeforeRepetition: Duration? {
        guard case .unanswered(nil, let status?) = kind, [502, 503].contains(status) else { return nil }
        return retryAfter ?? .zero
    }

    /// From an answer with an error status.
    init(_ response: HTTPResponse, now: Int64) {
        retryAfter = response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now) }
        // Proxies answer with pages; the service itself answers with JSON.
        let error = (try? JSON(parsing: response.body))?["error"]
        guard let error, let code = Self.code(error), response.status < 500 || !Self.mishaps.contains(code) else {
            kind =
                switch response.status {
                case 429: .refused(code: "QUOTA_EXCEEDED", status: 429)
                case 501 where error != nil: .refused(code: "NOT_IMPLEMENTED", status: 501)
                default: .unanswered(nil, status: response.status)
                }
            return
        }
        kind = .refused(code: response.status == 429 ? "QUOTA_EXCEEDED" : code, status: response.status)
    }

    /// The codes of internal failures of the service.
    private static let mishaps: Set<String> = [
        "INTERNAL", "INTERNAL_ERROR", "BACKEND_ERROR", "UNAVAILABLE", "UNKNOWN", "DEADLINE_EXCEEDED",
    ]

    /// `CODE` or `CODE : human text`, with any spacing. About keys the message has only text, and the reason is in another
    /// field.
    private static func code(_ error: JSON) -> String? {
        if let message = error["message"]?.string {
            let head = message.prefix { $0 != ":" }.split(separator: " ")
            if head.count == 1, let word = head.first, word.utf8.allSatisfy(isOfCode) { return String(word) }
            if message.contains("App Check") { return appCheckRefusal }
        }
        let reasons = (error["details"]?.array ?? []).compactMap { $0["reason"]?.string }
        if let reason = reasons.first ?? error["errors"]?[0]?["reason"]?.string { return reason }
        if error["message"]?.string?.hasPrefix("API key not valid") == true { return "API_KEY_INVALID" }
        return error["status"]?.string
    }

    private static func isOfCode(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "_")
    }
}
