import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardLocalFirebase

/// The rules of a local Firebase as texts, by which its decisions are explained.
struct FirebaseRules: Sendable {
    private let domain: RulesText
    private let documents: RulesText
    private let files: RulesText

    static let shared = try? FirebaseRules()

    init() throws(RulesMistake) {
        domain = try RulesText(parsing: FirestoreRulesText.domain)
        documents = try RulesText(parsing: String(decoding: PackageResources.default_rules, as: UTF8.self))
        files = try RulesText(parsing: String(decoding: PackageResources.files_rules, as: UTF8.self))
    }

    /// Why a request was allowed or denied.
    ///
    /// - Parameter decisions: Those that were made for it, in their order.
    func explanation(of decisions: [LocalDecision]) -> Explanation {
        let isAllowed = decisions.allSatisfy(\.isAllowed)
        var steps: [Explanation.Step] = []
        // What is denied is said last, and there is only one such.
        for decision in decisions.prefix(Self.mostDecisions)
            + decisions.dropFirst(Self.mostDecisions).filter({ !$0.isAllowed })
        {
            if case .outcome = decision.subject, decision.isAllowed { continue }
            steps += self.steps(for: decision, among: decisions)
        }
        let decisive = decisions.first { !$0.isAllowed } ?? decisions.last
        let what = decisive.map(Self.words) ?? "the request"
        return Explanation(
            isAllowed: isAllowed, summary: "\(isAllowed ? "Allowed" : "Denied"): \(what)", steps: steps)
    }

    private static let mostDecisions = 20

    private static func words(_ decision: LocalDecision) -> String {
        switch decision.subject {
        case .document(let action, let path, let data, let newData):
            "\(method(action, data, newData)) \(path.rawValue)"
        case .outcome(let path): "what the commit leaves at \(path.rawValue)"
        case .query(let query): "list " + place(of: query).map { $0 ?? "{document}" }.joined(separator: "/")
        case .file(let action, let segments):
            "\(action == .read ? "read" : "write") file \(segments.joined(separator: "/"))"
        }
    }

    // MARK: One decision

    private func steps(for decision: LocalDecision, among all: [LocalDecision]) -> [Explanation.Step] {
        if decision.isOpen {
            return [Self.builtIn("open access", "Access is open: everyone may do everything.", decision)]
        }
        if decision.caller == .owner {
            return [
                Self.builtIn("project credential", "The credential of the project bypasses all rules.", decision)
            ]
        }
        guard let question = Self.question(decision, among: all) else {
            return [
                Self.builtIn(
                    "no rule",
                    "A query over all collections of a name, wherever they are, needs a rule for all of them; "
                        + "there is none.", decision)
            ]
        }
        let (text, name) = text(for: decision, question)
        var rooted = question
        rooted.segments = Self.root(of: decision) + question.segments
        let answers = text.answers(to: rooted)
        let words = Self.words(decision)
        guard !answers.isEmpty || decision.isAllowed else {
            return [Self.builtIn("no rule", "No rule allows “\(words)”, so it is denied.", decision)]
        }
        var steps: [Explanation.Step] = []
        // Of the rules for it, one that allows is enough.
        if let yes = answers.first(where: { $0.trace.outcome == .yes }) {
            steps = [Self.step(yes, name)]
        } else {
            steps = answers.map { Self.step($0, name) }
        }
        let says = answers.contains { $0.trace.outcome == .yes }
        if says != decision.isAllowed {
            steps.append(
                Self.builtIn(
                    "the server itself",
                    says
                        ? "The local server denies “\(words)” whatever the text says."
                        : "The local server allows “\(words)”: nothing is there that the text could look at.", decision)
            )
        }
        return steps
    }

    /// Where the paths of a text begin.
    private static func root(of decision: LocalDecision) -> [String?] {
        if case .file = decision.subject { return ["b", "bucket", "o"] }
        return ["databases", "(default)", "documents"]
    }

    private static func step(_ answer: RulesText.Answer, _ name: String) -> Explanation.Step {
        let result: Explanation.Step.Result =
            switch answer.trace.outcome {
            case .yes: .yes
            case .no, .skipped: .no
            case .error: .error
            }
        return Explanation.Step(
            source: .rules, name: name, rule: answer.allow.text, line: answer.allow.line, result: result,
            operands: answer.trace.operands())
    }

    private static func builtIn(_ name: String, _ rule: String, _ decision: LocalDecision) -> Explanation.Step {
        Explanation.Step(source: .builtIn, name: name, rule: rule, result: decision.isAllowed ? .yes : .no)
    }

    private func text(for decision: LocalDecision, _ question: RulesQuestion) -> (RulesText, String) {
        if case .file = decision.subject { return (files, "files.rules") }
        let first = question.segments.first ?? nil
        let isDomain = first == "users" || (first == "checkIns" && question.segments.count == 2)
        return decision.hasDomain && isDomain ? (domain, "domain.rules") : (documents, "default.rules")
    }

    // MARK: Questions

    private static func method(_ action: LocalRules.Action, _ data: DocumentData?, _ newData: DocumentData?) -> String {
        if action == .read { return "get" }
        if newData == nil { return "delete" }
        return data == nil ? "create" : "update"
    }

    private static func question(_ decision: LocalDecision, among all: [LocalDecision]) -> RulesQuestion? {
        let auth = auth(of: decision.caller)
        let found = found(decision, among: all)
        switch decision.subject {
        case .document(let action, let path, let data, let newData):
            return RulesQuestion(
                method: method(action, data, newData), segments: path.segments, auth: auth, resource: resource(data),
                newResource: resource(newData), document: found)
        case .outcome(let path):
            for other in all {
                guard case .document(let action, path, let data, let newData) = other.subject else { continue }
                return RulesQuestion(
                    method: method(action, data, newData), segments: path.segments, auth: auth,
                    resource: resource(data), newResource: resource(newData), document: found)
            }
            return nil
        case .query(let query):
            if case .group(_, nil) = query.source { return nil }
            return RulesQuestion(
                method: "list", segments: place(of: query), auth: auth, resource: resource(of: query), document: found)
        case .file(let action, let segments):
            return RulesQuestion(
                method: action == .read ? "get" : "create", segments: segments, auth: auth, resource: .null)
        }
    }

    private static func auth(of caller: LocalCaller) -> RulesValue {
        guard case .user(let id, let claims) = caller else { return .null }
        return .map(
            [
                RulesValue.Member(name: "uid", value: .string(id)),
                RulesValue.Member(name: "token", value: RulesValue(.object(claims))),
            ], isPartial: false)
    }

    private static func resource(_ data: DocumentData?) -> RulesValue {
        guard let data else { return .null }
        return .map([RulesValue.Member(name: "data", value: .map(data))], isPartial: false)
    }

    /// What is known of every result of a query.
    private static func resource(of query: Query) -> RulesValue {
        var members: [RulesValue.Member] = []
        func add(_ filter: Filter?) {
            switch filter {
            case .comparison(let field, .equal, let value)?:
                members.append(RulesValue.Member(name: field.description, value: RulesValue(value)))
            case .all(let filters)?: for filter in filters { add(filter) }
            default: break
            }
        }
        add(query.filter)
        return .map(
            [RulesValue.Member(name: "data", value: .map(members, isPartial: true))], isPartial: true)
    }

    /// The path of a result, as far as it is known.
    private static func place(of query: Query) -> [String?] {
        switch query.source {
        case .collection(let collection): collection.segments.map { $0 } + [nil]
        case .group(let id, let ancestor): (ancestor?.segments ?? []).map { $0 } + [id, nil]
        }
    }

    /// The other documents, as they were at the decision, and after the commit.
    private static func found(
        _ decision: LocalDecision, among all: [LocalDecision]
    ) -> @Sendable (String, Bool) -> RulesScope.Found {
        let before = decision.others
        var after: [StoragePath: DocumentSnapshot] = [:]
        for other in all {
            if case .outcome = other.subject { after.merge(other.others) { $1 } }
        }
        let end = after
        return { path, isAfter in
            guard let place = try? StoragePath(validating: path) else { return .missing }
            guard let document = isAfter ? end[place] ?? before[place] : before[place] else { return .unknown }
            return document.data.map { .data(.map($0)) } ?? .missing
        }
    }
}
