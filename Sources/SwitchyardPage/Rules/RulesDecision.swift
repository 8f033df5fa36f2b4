import Switchyard

/// A question to the rules of a text: may this caller do this there?
struct RulesQuestion: Sendable {
    /// `get`, `list`, `create`, `update` or `delete`.
    let method: String
    /// The segments of the path below the root; `nil` for one that is not known.
    var segments: [String?]
    /// `request.auth`
    let auth: RulesValue
    /// `resource`
    let resource: RulesValue
    /// `request.resource`
    var newResource = RulesValue.null
    var document: @Sendable (_ path: String, _ isAfter: Bool) -> RulesScope.Found = { _, _ in .unknown }
}

extension RulesText {
    /// What a rule says about a question.
    struct Answer: Sendable {
        let allow: Allow
        let trace: RulesTrace
        /// How many literal segments lead to it.
        let precision: Int
    }

    /// The rules for the method at the path, with their answers, the most precise last.
    func answers(to question: RulesQuestion) -> [Answer] {
        var scope = RulesScope()
        scope.document = question.document
        scope.values["resource"] = question.resource
        scope.values["request"] = .map(
            [
                RulesValue.Member(name: "auth", value: question.auth),
                RulesValue.Member(name: "resource", value: question.newResource),
                RulesValue.Member(name: "method", value: .string(question.method)),
                RulesValue.Member(name: "time", value: .other(kind: "timestamp", shown: "the time of the request")),
            ], isPartial: false)
        var answers: [Answer] = []
        for match in matches { Self.add(match, question.segments[...], question.method, scope, 0, to: &answers) }
        // The order of equals is that of the text.
        return answers.enumerated().sorted { ($0.element.precision, $0.offset) < ($1.element.precision, $1.offset) }
            .map(\.element)
    }

    private static func add(
        _ match: Match, _ segments: ArraySlice<String?>, _ method: String, _ outer: RulesScope,
        _ precision: Int, to answers: inout [Answer]
    ) {
        var scope = outer
        scope.functions.merge(match.functions) { $1 }
        let own =
            precision
            + match.pattern.count { if case .literal = $0 { true } else { false } }
        for (rest, values) in ends(of: match.pattern[...], segments) {
            scope.values.merge(values) { $1 }
            if rest.isEmpty {
                for allow in match.allows where allow.methods.contains(method) {
                    answers.append(
                        Answer(allow: allow, trace: scope.trace(allow.condition), precision: own))
                }
            }
            for inner in match.matches { add(inner, rest, method, scope, own, to: &answers) }
        }
    }

    /// What is left of a path behind a pattern, and what the pattern's names are.
    private static func ends(
        of pattern: ArraySlice<Segment>, _ segments: ArraySlice<String?>
    ) -> [(rest: ArraySlice<String?>, values: [String: RulesValue])] {
        var values: [String: RulesValue] = [:]
        var rest = segments
        for part in pattern {
            switch part {
            case .literal(let text):
                guard let first = rest.first, first == text else { return [] }
                rest = rest.dropFirst()
            case .one(let name):
                guard let first = rest.first else { return [] }
                values[name] = first.map { .string($0) } ?? unknown(name)
                rest = rest.dropFirst()
            case .rest(let name):
                values[name] = .path(rest.map { $0 ?? "…" }.joined(separator: "/"))
                rest = rest.suffix(0)
            }
        }
        return [(rest, values)]
    }

    private static func unknown(_ name: String) -> RulesValue {
        .unknown("“\(name)” is not the same for every result that the query may have")
    }
}
