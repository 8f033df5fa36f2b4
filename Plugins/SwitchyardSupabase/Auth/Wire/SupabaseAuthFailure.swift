import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// Why a call to Supabase's auth service failed, in the service's terms.
struct SupabaseAuthFailure: Error, Sendable {
    enum Kind: Sendable {
        /// - `code`: The service's code; `nil` if there is none.
        /// - `hint`: The message, for codes with several meanings. Never shown.
        case refused(code: String?, status: Int, hint: String)
        /// No answer, or one that the service did not write.
        case unanswered(TransportError?, status: Int?)
        /// The address is plain HTTP to another machine.
        case unsafeAddress
        /// An error that this client found, in the answer or before the call.
        case own(AuthError)
    }

    let kind: Kind
    var retryAfter: Duration?

    init(_ kind: Kind) { self.kind = kind }

    static func own(_ code: AuthError.Code, _ message: String) -> SupabaseAuthFailure {
        SupabaseAuthFailure(.own(AuthError(code, message)))
    }
    /// A success that lacks required values.
    static let unreadable = SupabaseAuthFailure(.unanswered(nil, status: nil))

    var code: String? { if case .refused(let code, _, _) = kind { code } else { nil } }
    var status: Int? { if case .refused(_, let status, _) = kind { status } else { nil } }

    /// Whether the database found a row of this kind there already, by the beginning of the constraint's name. The service finds
    /// out beforehand, except where two calls are under way at the same moment.
    func hasMet(_ constraint: String) -> Bool {
        guard case .refused(let code, _, let hint) = kind else { return false }
        return (code == "database_23505" || hint.contains("23505") || hint.contains("duplicate key value"))
            && hint.contains("\"\(constraint)")
    }

    /// Whether the token was refused, independent of the call: the service reports this for an expired token.
    var isAboutToken: Bool { code == "bad_jwt" || code == "no_authorization" || (code == nil && status == 401) }

    /// The least pause before the same call may be sent again, if the answer shows that it was not carried out: a gateway did not
    /// reach the service, or the service did not reach its database. That usually passes within seconds.
    var pauseBeforeRepetition: Duration? {
        let isPassing =
            switch kind {
            case .refused(nil, let status, _), .unanswered(nil, let status?): [502, 503].contains(status)
            // Refused connections of the database: it starts, or has none left.
            case .refused(let code?, _, _): ["database_57P03", "database_53300"].contains(code)
            case .unanswered, .unsafeAddress, .own: false
            }
        return isPassing ? retryAfter ?? .zero : nil
    }

    /// Parses three body formats: the current one, the previous one and OAuth's. A gateway before the service may also answer.
    init(_ response: HTTPResponse, now: Int64) {
        retryAfter = response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now) }
        let body = try? JSON(parsing: response.body)
        guard let body, body.object != nil else {
            // A page comes from a proxy, or from a server that is not Supabase's.
            let isStranger = response.body.isWebPage && ![407, 413, 429].contains(response.status)
            kind =
                response.status >= 500 || response.status == 400 || isStranger
                ? .unanswered(nil, status: response.status)
                : .refused(code: response.headers["x-sb-error-code"], status: response.status, hint: "")
            return
        }
        let hint = (body["msg"] ?? body["message"] ?? body["error_description"] ?? body["error"])?.string ?? ""
        var code = body["code"]?.string
        // A code of five letters and digits is a database state, raised by a trigger of the project.
        if let text = code, text.utf8.count == 5, !text.utf8.contains(UInt8(ascii: "_")) { code = "database_\(text)" }
        code = code ?? body["error_code"]?.string ?? response.headers["x-sb-error-code"]
        if code == nil, let error = body["error"]?.string { code = "oauth:\(error)" }
        kind = .refused(code: code, status: response.status, hint: hint)
        // Only the text says how long to wait.
        if retryAfter == nil, response.status == 429 { retryAfter = Self.seconds(in: hint) }
    }

    /// The number in “… after N seconds.”
    private static func seconds(in text: String) -> Duration? {
        let words = text.split(separator: " ")
        guard let place = words.firstIndex(where: { $0.hasPrefix("second") }), place > 0 else { return nil }
        return Int64(words[place - 1]).flatMap { (0...86_400).contains($0) ? .seconds($0) : nil }
    }
}
