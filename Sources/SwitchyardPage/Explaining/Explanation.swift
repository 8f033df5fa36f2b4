import SwitchyardBytes

/// Why access was allowed or denied: what was looked at, in order, the decisive last.
struct Explanation: Sendable {
    struct Step: Sendable {
        enum Source: String, Sendable { case rules, policy, builtIn = "built-in" }

        enum Result: Sendable, Equatable {
            case yes, no
            /// It could not be said, and counts as no.
            case error

            var json: JSON {
                switch self {
                case .yes: true
                case .no: false
                case .error: "error"
                }
            }
        }

        /// A part of the expression, and what it was.
        struct Operand: Sendable, Equatable {
            let text: String
            let value: String
            /// Whether it made the whole what it is.
            var isDecisive = false
            /// The part of the rule's own text that it belongs to; `nil` for the text itself.
            var mark: String?

            /// How it turned out, as its value says.
            private var state: String {
                if value.hasPrefix("true") { return "true" }
                if value.hasPrefix("false") { return "false" }
                return value.hasPrefix("error") ? "error" : value == "not looked at" ? "skipped" : "value"
            }

            var json: JSON {
                [
                    "text": .string(text), "value": .string(value), "decisive": .bool(isDecisive),
                    "state": .string(state), "mark": .string(mark ?? text),
                ]
            }
        }

        let source: Source
        let name: String
        /// The text of the rule or the policy.
        let rule: String
        var line: Int?
        let result: Result
        var operands: [Operand] = []
        /// The row for which a policy was tried.
        var row: JSON?

        var json: JSON {
            .object([
                "rule": .string(rule), "name": .string(name), "source": .string(source.rawValue),
                "line": line.map { .number($0) }, "result": result.json,
                "operands": .array(operands.map(\.json)),
                "row": row,
            ])
        }
    }

    var isAllowed: Bool?
    /// In one sentence.
    var summary: String
    var steps: [Step] = []

    /// An explanation that was made when the request ended, in the place of everything that was decided from.
    struct Settled: Sendable {
        let explanation: Explanation
        let who: Who
    }

    /// For what no rule guards.
    static func unguarded(_ summary: String) -> Explanation {
        Explanation(
            isAllowed: nil, summary: summary,
            steps: [Step(source: .builtIn, name: "no rule", rule: summary, result: .yes)])
    }

    var json: JSON {
        .object([
            "allowed": isAllowed.map { .bool($0) } ?? .null, "summary": .string(summary), "note": .string(summary),
            "steps": .array(steps.map(\.json)),
        ])
    }
}
