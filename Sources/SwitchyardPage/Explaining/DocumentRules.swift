import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit

/// Why a caller may or may not read and write documents of the document table: the rule of their collection, and whose they are.
struct DocumentRules: Sendable {
    let supabase: LocalSupabase
    let token: SupabaseToken

    private static let sql = """
        select jsonb_build_object(
          'path', p.path, 'kind', p.kind, 'caller', switchyard.caller(), 'trusted', switchyard.is_trusted(),
          'rule', (select case $2 when 'read' then r.read else r.write end from switchyard.rules r
                   where r.collection_id = p.kind),
          'isThere', d.path is not null, 'owner', d.owner,
          'isOpen', p.kind = any (s.opened), 'isClosed', p.kind = any (s.closed), 'isDomain', p.kind = any (s.domain),
          'isNamed', p.kind = any (s.named) or (p.kind <> all (s.ruled) and split_part(p.path, '/', 1) = any (s.roots)),
          'holder', switchyard.holder(p.path, regexp_replace(p.path, '/[^/]+$', ''), p.kind,
            case when d.path is not null or $2 = 'read' then d.owner else switchyard.caller() end,
            s.ruled, s.named, s.roots))
        from (select $1 as path, substring($1 from '([^/]+)/[^/]+$') as kind) p
          cross join lateral switchyard.standing($2) s
          left join switchyard.documents d on d.path = p.path
        """

    /// - Parameter deed: `read` or `write`.
    func explanation(of deed: String, at paths: [String]) async -> Explanation {
        var steps: [Explanation.Step] = []
        var isAllowed: Bool? = true
        for path in paths.prefix(20) {
            let (answer, step) = await step(deed, path)
            steps.append(step)
            if answer == false { isAllowed = false } else if answer == nil, isAllowed == true { isAllowed = nil }
        }
        let words = "\(deed) \(paths.first ?? "")" + (paths.count > 1 ? " and \(paths.count - 1) more" : "")
        return Explanation(
            isAllowed: isAllowed, summary: "\(isAllowed == false ? "Denied" : "Allowed"): \(words)", steps: steps)
    }

    private func step(_ deed: String, _ path: String) async -> (Bool?, Explanation.Step) {
        let statements = [
            PostgresStatement("select set_config('request.jwt.claims', $1, true)", [JSON.object(token.claims).text()]),
            // The name alone: the functions ask for it, and the caller could not look at the rules.
            PostgresStatement(Self.sql, [path, deed]),
        ]
        let results: [PostgresResult]
        do throws(PostgresFailure) { results = try await supabase.database.run(statements) } catch {
            return (
                nil,
                Explanation.Step(
                    source: .builtIn, name: "document table",
                    rule: "The rules cannot be read: \(error.message)", result: .error)
            )
        }
        guard let text = results[1].text, let facts = try? JSON(parsing: text) else {
            return (
                nil, Explanation.Step(source: .builtIn, name: "document", rule: "No path “\(path)”.", result: .error)
            )
        }
        return judged(deed, path, facts)
    }

    private func judged(_ deed: String, _ path: String, _ facts: JSON) -> (Bool?, Explanation.Step) {
        let kind = facts["kind"]?.string ?? ""
        if token.role == "service_role" {
            return (
                true,
                Explanation.Step(
                    source: .builtIn, name: "project credential",
                    rule: "The service key bypasses all rules and policies.", result: .yes)
            )
        }
        let named = facts["isNamed"]?.bool == true
        let rule = facts["rule"]?.string ?? (named ? "named" : "owner")
        let caller = facts["caller"]?.string
        let holder = facts["holder"]?.string
        var operands = [Explanation.Step.Operand(text: "rule of “\(kind)”", value: rule)]
        let answer: Bool?
        switch rule {
        case "public": answer = true
        case "authenticated":
            answer = caller != nil
            operands.append(.init(text: "caller", value: caller ?? "no one is signed in", isDecisive: true))
        case "none": answer = false
        case "domain":
            answer = nil
            operands.append(
                .init(text: "caller", value: (caller ?? "no one is signed in") + "; decided by contacts and blocks"))
        default:
            answer = caller != nil && holder == caller
            let whose = named ? "the path names" : "the owner is"
            operands.append(.init(text: "caller", value: caller ?? "no one is signed in", isDecisive: caller == nil))
            operands.append(
                .init(
                    text: whose, value: holder ?? (facts["isThere"]?.bool == true ? "no one" : "no document is there"),
                    isDecisive: answer != nil))
        }
        let explicit = facts["rule"]?.string == nil ? "by default" : "switchyard.rules"
        var step = Explanation.Step(
            source: .policy, name: explicit, rule: "\(deed) \(path): \(rule)",
            result: answer.map { $0 ? .yes : .no } ?? .error, operands: operands)
        step.row = ["path": .string(path), "owner": facts["owner"] ?? .null]
        return (answer, step)
    }
}
