/// Why an expression has no value.
struct RulesError: Error, Equatable {
    let message: String

    init(_ message: String) { self.message = message }
}

/// The names of a place in a rules text, and what they are there.
struct RulesScope: Sendable {
    var values: [String: RulesValue] = [:]
    var functions: [String: RulesText.Function] = [:]
    /// What `get`, `exists` and `existsAfter` find, by the path of a document.
    var document: @Sendable (_ path: String, _ isAfter: Bool) -> Found = { _, _ in .unknown }

    enum Found: Sendable {
        case data(RulesValue)
        case missing
        case unknown
    }

    func inside(_ function: RulesText.Function, _ arguments: [RulesValue]) throws(RulesError) -> RulesScope {
        guard arguments.count == function.parameters.count else {
            throw RulesError("\(function.name) takes \(function.parameters.count) values")
        }
        var scope = self
        for (name, value) in zip(function.parameters, arguments) { scope.values[name] = value }
        return scope
    }
}

extension RulesScope {
    func value(_ expression: RulesText.Expression) throws(RulesError) -> RulesValue {
        let value = try rawValue(expression)
        if case .unknown(let why) = value { throw RulesError(why) }
        return value
    }

    /// Also one that is not known, which may be passed on.
    private func rawValue(_ expression: RulesText.Expression) throws(RulesError) -> RulesValue {
        switch expression.kind {
        case .literal(let value): return value
        case .name(let name):
            guard let value = values[name] else { throw RulesError("“\(name)” is not known here") }
            return value
        case .member(let base, let name): return try Self.member(name, of: value(base))
        case .call(let callee, let arguments): return try call(callee, arguments)
        case .path(let parts):
            var segments: [String] = []
            for part in parts {
                switch part {
                case .literal(let text): segments.append(text)
                case .value(let expression):
                    guard case .string(let text) = try value(expression) else {
                        throw RulesError("a part of a path is no text")
                    }
                    segments.append(text)
                }
            }
            return .path(segments.joined(separator: "/"))
        case .list(let elements):
            var values: [RulesValue] = []
            for element in elements { values.append(try value(element)) }
            return .list(values)
        case .not(let inner): return .bool(!(try bool(inner)))
        case .binary(let sign, let left, let right): return .bool(try compare(sign, left, right))
        case .isType(let inner, let type): return .bool(try value(inner).isA(type))
        }
    }

    func bool(_ expression: RulesText.Expression) throws(RulesError) -> Bool {
        guard case .bool(let flag) = try value(expression) else {
            throw RulesError("“\(expression.text)” is neither true nor false")
        }
        return flag
    }

    private func compare(
        _ sign: String, _ left: RulesText.Expression, _ right: RulesText.Expression
    ) throws(RulesError) -> Bool {
        switch sign {
        // An error on one side does not matter if the other side decides.
        case "&&":
            do throws(RulesError) { if try !bool(left) { return false } } catch {
                if try !bool(right) { return false }
                throw error
            }
            return try bool(right)
        case "||":
            do throws(RulesError) { if try bool(left) { return true } } catch {
                if try bool(right) { return true }
                throw error
            }
            return try bool(right)
        case "==": return try value(left) == value(right)
        case "!=": return try value(left) != value(right)
        case "in":
            let (element, whole) = (try value(left), try value(right))
            switch (element, whole) {
            case (_, .list(let values)): return values.contains(element)
            case (.string(let name), .map(let members, _)): return members.contains { $0.name == name }
            default: throw RulesError("“\(right.text)” is no list")
            }
        default: return try Self.isOrdered(sign, try value(left), try value(right))
        }
    }

    private static func isOrdered(
        _ sign: String, _ left: RulesValue, _ right: RulesValue
    ) throws(RulesError) -> Bool {
        func number(_ value: RulesValue) throws(RulesError) -> Double {
            switch value {
            case .integer(let value): Double(value)
            case .double(let value): value
            default: throw RulesError("\(value.shown) is no number")
            }
        }
        let (first, second) = (try number(left), try number(right))
        return switch sign {
        case "<": first < second
        case "<=": first <= second
        case ">": first > second
        default: first >= second
        }
    }

    // MARK: Members

    private static func member(_ name: String, of value: RulesValue) throws(RulesError) -> RulesValue {
        guard case .map(let members, let isPartial) = value else {
            throw RulesError("“\(name)” of \(value.shown), which has no members")
        }
        if let member = members.first(where: { $0.name == name }) { return member.value }
        throw RulesError(
            isPartial ? "“\(name)” is not the same for every result that the query may have" : "there is no “\(name)”")
    }

    private func call(
        _ callee: RulesText.Expression, _ arguments: [RulesText.Expression]
    ) throws(RulesError) -> RulesValue {
        if case .name(let name) = callee.kind {
            if let function = functions[name] {
                var given: [RulesValue] = []
                for argument in arguments { given.append(try rawValue(argument)) }
                return try inside(function, given).value(function.body)
            }
            guard arguments.count == 1, case .path(let path) = try value(arguments[0]) else {
                throw RulesError("“\(name)” is not known here")
            }
            return try look(name, at: path)
        }
        guard case .member(let base, let name) = callee.kind else { throw RulesError("this cannot be called") }
        let target = try value(base)
        var given: [RulesValue] = []
        for argument in arguments { given.append(try value(argument)) }
        return try Self.method(name, of: target, given)
    }

    private func look(_ name: String, at path: String) throws(RulesError) -> RulesValue {
        // Without databases/(default)/documents.
        let place = path.split(separator: "/").dropFirst(3).joined(separator: "/")
        let found = document(place, name == "existsAfter" || name == "getAfter")
        switch (name, found) {
        case (_, .unknown): throw RulesError("what was at \(place) is not known any more")
        case ("exists", .data), ("existsAfter", .data): return .bool(true)
        case ("exists", .missing), ("existsAfter", .missing): return .bool(false)
        case ("get", .data(let data)), ("getAfter", .data(let data)):
            return .map([RulesValue.Member(name: "data", value: data)], isPartial: false)
        case ("get", .missing), ("getAfter", .missing): throw RulesError("there is no \(place)")
        default: throw RulesError("“\(name)” is not known here")
        }
    }

    private static func method(
        _ name: String, of target: RulesValue, _ given: [RulesValue]
    ) throws(RulesError) -> RulesValue {
        switch (name, target, given.count) {
        case ("get", .map(let members, let isPartial), 2):
            guard case .string(let key) = given[0] else { throw RulesError("the name of a member is no text") }
            if let member = members.first(where: { $0.name == key }) { return member.value }
            guard !isPartial else {
                throw RulesError("“\(key)” is not the same for every result that the query may have")
            }
            return given[1]
        case ("keys", .map(let members, _), 0): return .list(members.map { .string($0.name) })
        case ("size", .map(let members, _), 0): return .integer(Int64(members.count))
        case ("size", .list(let values), 0): return .integer(Int64(values.count))
        case ("size", .string(let text), 0): return .integer(Int64(text.utf16.count))
        case ("diff", .map(let new, _), 1):
            guard case .map(let old, _) = given[0] else { throw RulesError("\(given[0].shown) is no map") }
            return .map([RulesValue.Member(name: "changed", value: .list(changed(old, new)))], isPartial: false)
        case ("affectedKeys", .map(let members, _), 0) where members.first?.name == "changed":
            return members[0].value
        case ("hasOnly", .list(let values), 1), ("hasAny", .list(let values), 1), ("hasAll", .list(let values), 1):
            guard case .list(let others) = given[0] else { throw RulesError("\(given[0].shown) is no list") }
            return .bool(
                name == "hasOnly"
                    ? values.allSatisfy(others.contains)
                    : name == "hasAll" ? others.allSatisfy(values.contains) : values.contains(where: others.contains))
        default: throw RulesError("\(target.shown) has no “\(name)”")
        }
    }

    private static func changed(_ old: [RulesValue.Member], _ new: [RulesValue.Member]) -> [RulesValue] {
        var names: [String] = []
        for member in new where !old.contains(member) { names.append(member.name) }
        for member in old where !new.contains(where: { $0.name == member.name }) { names.append(member.name) }
        return names.map { .string($0) }
    }
}
