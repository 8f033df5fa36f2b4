import Switchyard
import SwitchyardBytes
import SwitchyardLocalFirebase
import SwitchyardServerKit

struct FirebaseSide: LocalSide {
    let firebase: LocalFirebase
    let log: RequestLog

    var server: LoopbackServer { firebase.server }
    var address: String { firebase.server.url }
    var sent: [SentMessages] { [firebase.sentCodes, firebase.sentPushes] }

    var isDeaf: Bool {
        get { firebase.firestore.isDeaf }
        nonmutating set { firebase.firestore.isDeaf = newValue }
    }

    func summary(of record: ExchangeRecord, _ state: ExchangeRecord.State) -> RequestSummary {
        FirebaseWords(record: record, state: state).summary()
    }

    func explanation(of record: ExchangeRecord, _ state: ExchangeRecord.State) async -> Explanation {
        if let settled = state.notes.first as? Explanation.Settled { return settled.explanation }
        let decisions = state.notes.compactMap { $0 as? LocalDecision }
        if !decisions.isEmpty, let rules = FirebaseRules.shared { return rules.explanation(of: decisions) }
        if let fault = state.fault, state.status ?? 0 >= 400 || state.status == nil {
            return .unguarded("The fault “\(fault)” was applied; no rule was asked.")
        }
        let summary = summary(of: record, state)
        let message = Self.message(in: state)
        if state.status == 401 {
            return Explanation(
                isAllowed: false, summary: "Denied before any rule: the token is not accepted.",
                steps: [
                    Explanation.Step(
                        source: .builtIn, name: "token", rule: message ?? "The token is not accepted.", result: .no)
                ])
        }
        if let status = state.status, status >= 400 {
            return .unguarded(
                message.map { "No rule was asked: \($0)" } ?? "No rule was asked; the answer is \(status).")
        }
        switch summary.service {
        case .auth:
            return .unguarded("No rule guards the account service: it decides by its own checks, such as the password.")
        case .messaging:
            return .unguarded("No rule guards messages: the project's own server sends them, and devices register.")
        default:
            return .unguarded(
                summary.who.kind == .project
                    ? "The credential of the project bypasses all rules." : "No rule guards this request.")
        }
    }

    func settle(_ record: ExchangeRecord, _ state: ExchangeRecord.State) {
        let decisions = state.notes.compactMap { $0 as? LocalDecision }
        guard state.ended != nil, !decisions.isEmpty, let rules = FirebaseRules.shared else { return }
        let who = FirebaseWords(record: record, state: state).who
        record.replaceNotes(by: [Explanation.Settled(explanation: rules.explanation(of: decisions), who: who)])
    }

    /// The message of an error in an answer.
    private static func message(in state: ExchangeRecord.State) -> String? {
        guard let json = try? JSON(parsing: state.responseBody.bytes) else { return nil }
        return (json["error"] ?? json[0]?["error"])?["message"]?.string
    }

    func check(
        _ path: StoragePath, as persona: Persona, data: DocumentData?
    ) async throws -> (read: Explanation, write: Explanation) {
        guard let rules = FirebaseRules.shared else { throw PageFailure.unsupported("There are no rules to ask.") }
        let decisions = try firebase.decisions(at: path, authorization: authorization(of: persona), newData: data)
        return (rules.explanation(of: decisions.read), rules.explanation(of: decisions.write))
    }

    func check(_ query: Query, as persona: Persona) async throws -> Explanation? {
        let decisions = try firebase.decisions(of: query, authorization: authorization(of: persona))
        return FirebaseRules.shared?.explanation(of: decisions)
    }

    private func authorization(of persona: Persona) -> String? {
        switch persona {
        case .project: "Bearer owner"
        case .signedOut: nil
        case .user(let user): "Bearer " + Self.token(for: user, firebase)
        }
    }

    static func token(for user: Persona.User, _ firebase: LocalFirebase) -> String {
        firebase.idToken(for: user.id, claims: user.claims, factor: user.assurance == "aal2" ? "totp" : nil)
    }

    // MARK: Accounts

    func sessions(of account: String) async throws -> [JSON]? { nil }

    func endSession(_ id: String, of account: String) async throws -> Bool { false }

    func removeFactor(_ id: String, of account: String) async throws -> Bool {
        firebase.removeFactor(id, of: account)
    }

    func reset() async throws { try firebase.reset() }
}
