/// An expression with what became of its parts.
indirect enum RulesTrace: Sendable {
    enum Outcome: Sendable, Equatable {
        case yes, no
        case error(String)
        case skipped
    }

    /// All of them, or one of them.
    case joined(isAll: Bool, [RulesTrace], Outcome)
    case not(RulesTrace, Outcome)
    /// The call of a function of the rules, and its body.
    case function(String, RulesTrace)
    case leaf(String, Outcome, shown: String?)

    var outcome: Outcome {
        switch self {
        case .joined(_, _, let outcome), .not(_, let outcome), .leaf(_, let outcome, _): outcome
        case .function(_, let body): body.outcome
        }
    }
}

extension RulesScope {
    func trace(_ expression: RulesText.Expression) -> RulesTrace {
        switch expression.kind {
        case .binary(let sign, let left, let right) where sign == "&&" || sign == "||":
            return joined(isAll: sign == "&&", left, right)
        case .not(let inner):
            let trace = trace(inner)
            let outcome: RulesTrace.Outcome =
                switch trace.outcome {
                case .yes: .no
                case .no: .yes
                case let other: other
                }
            return .not(trace, outcome)
        case .call(let callee, let arguments):
            guard case .name(let name) = callee.kind, let function = functions[name] else { break }
            var given: [RulesValue] = []
            for argument in arguments {
                do throws(RulesError) { given.append(try value(argument)) } catch {
                    given.append(.unknown(error.message))
                }
            }
            guard let scope = try? inside(function, given) else { break }
            return .function(expression.text, scope.trace(function.body))
        default: break
        }
        return leaf(expression)
    }

    private func joined(
        isAll: Bool, _ left: RulesText.Expression, _ right: RulesText.Expression
    ) -> RulesTrace {
        let first = trace(left)
        let decides: RulesTrace.Outcome = isAll ? .no : .yes
        if first.outcome == decides { return .joined(isAll: isAll, [first, Self.skipped(right)], decides) }
        let second = trace(right)
        let outcome: RulesTrace.Outcome =
            if second.outcome == decides { decides } else if case .error = first.outcome { first.outcome } else {
                second.outcome
            }
        return .joined(isAll: isAll, [first, second], outcome)
    }

    private static func skipped(_ expression: RulesText.Expression) -> RulesTrace {
        .leaf(expression.text, .skipped, shown: nil)
    }

    private func leaf(_ expression: RulesText.Expression) -> RulesTrace {
        do throws(RulesError) {
            return .leaf(expression.text, try bool(expression) ? .yes : .no, shown: shown(expression))
        } catch {
            return .leaf(expression.text, .error(error.message), shown: nil)
        }
    }

    /// The values on both sides of a comparison, or what was looked at.
    private func shown(_ expression: RulesText.Expression) -> String? {
        switch expression.kind {
        case .binary(let sign, let left, let right):
            guard let first = try? value(left), let second = try? value(right) else { return nil }
            return "\(first.shown) \(sign) \(second.shown)"
        case .isType(let inner, let type): return (try? value(inner)).map { "\($0.shown) is \(type)" }
        case .call(let callee, let arguments):
            if case .member(let base, let name) = callee.kind, let target = try? value(base) {
                let given = arguments.compactMap { try? value($0) }.map(\.shown).joined(separator: ", ")
                return "\(target.shown).\(name)(\(given))"
            }
            return arguments.first.flatMap { try? value($0) }.map { path in
                "\(callee.text)(\(path.shown))"
            }
        default: return nil
        }
    }
}

extension RulesTrace {
    /// The parts of the expression in their order, with those that decided.
    func operands() -> [Explanation.Step.Operand] { operands("", mark: nil, isDecisive: true) }

    private func operands(_ prefix: String, mark: String?, isDecisive: Bool) -> [Explanation.Step.Operand] {
        switch self {
        case .leaf(let text, let outcome, let shown):
            return [
                Explanation.Step.Operand(
                    text: prefix + text, value: Self.value(outcome, shown),
                    isDecisive: isDecisive && outcome != .skipped, mark: mark ?? text)
            ]
        case .not(let inner, _): return inner.operands(prefix + "not ", mark: mark, isDecisive: isDecisive)
        case .function(let call, let body):
            return body.operands(prefix + call + ": ", mark: mark ?? call, isDecisive: isDecisive)
        case .joined(_, let parts, let outcome):
            // Of several that are as they have to be, each counts; one that is not decides alone.
            var hasDecided = false
            return parts.flatMap { part in
                let counts = isDecisive && part.outcome == outcome && !hasDecided
                if counts, isSingle(outcome) { hasDecided = true }
                return part.operands(prefix, mark: mark, isDecisive: counts)
            }
        }
    }

    /// Whether one part was enough for the outcome.
    private func isSingle(_ outcome: Outcome) -> Bool {
        guard case .joined(let isAll, _, _) = self else { return true }
        return isAll ? outcome != .yes : outcome == .yes
    }

    private static func value(_ outcome: Outcome, _ shown: String?) -> String {
        switch outcome {
        case .yes: shown.map { "true: \($0)" } ?? "true"
        case .no: shown.map { "false: \($0)" } ?? "false"
        case .error(let message): "error: \(message)"
        case .skipped: "not looked at"
        }
    }
}
