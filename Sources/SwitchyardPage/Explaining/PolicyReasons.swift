import SwitchyardBytes
import SwitchyardLocalSupabase
import SwitchyardServerKit

/// Why a caller may or may not do something with rows of a table: the grant, and each policy, tried on the row.
struct PolicyReasons: Sendable {
    enum Deed: String, Sendable { case select, insert, update, delete }

    private struct Policy: Sendable {
        let name: String
        let isPermissive: Bool
        let using: String?
        let check: String?
    }

    let trial: PolicyTrial

    private var token: SupabaseToken { trial.token }
    private var table: String { trial.schema + "." + trial.table }

    /// - Parameters:
    ///   - row: The row that is there.
    ///   - newRow: The row that is to be there.
    func steps(_ deed: Deed, row: PolicyTrial.Row, newRow: PolicyTrial.Row) async -> (Bool?, [Explanation.Step]) {
        guard let facts = await facts(deed) else {
            return (nil, [Self.builtIn("table", "There is no table \(table).", .error)])
        }
        var steps = [
            Self.builtIn(
                "grant", "grant \(deed.rawValue) on \(table) to \(token.role)", facts.isGranted ? .yes : .no)
        ]
        guard facts.isGranted else { return (false, steps) }
        if facts.bypasses {
            steps.append(Self.builtIn("role", "The role \(token.role) bypasses all policies.", .yes))
            return (true, steps)
        }
        guard facts.isGuarded else {
            steps.append(
                Self.builtIn(
                    "row-level security",
                    "Row-level security is off for \(table): whoever has the grant may do it with every row.", .yes))
            return (true, steps)
        }
        guard !facts.policies.isEmpty else {
            steps.append(
                Self.builtIn("no policy", "No policy for \(deed.rawValue) on \(table) is for \(token.role).", .no))
            return (false, steps)
        }
        var answer: Bool? = true
        for (isNew, row) in Self.rows(deed, row, newRow) {
            let (isAllowed, more) = await tried(facts.policies, isNew: isNew, row)
            steps += more
            answer = isAllowed == false ? false : isAllowed.flatMap { yes in answer.map { $0 && yes } }
        }
        return (answer, steps)
    }

    private static func rows(
        _ deed: Deed, _ row: PolicyTrial.Row, _ newRow: PolicyTrial.Row
    ) -> [(isNew: Bool, row: PolicyTrial.Row)] {
        switch deed {
        case .select, .delete: [(false, row)]
        case .insert: [(true, newRow)]
        case .update: [(false, row), (true, newRow)]
        }
    }

    private static func builtIn(
        _ name: String, _ rule: String, _ result: Explanation.Step.Result
    ) -> Explanation.Step { Explanation.Step(source: .builtIn, name: name, rule: rule, result: result) }

    // MARK: Trying

    /// One permissive policy has to hold, and all restrictive ones.
    private func tried(
        _ policies: [Policy], isNew: Bool, _ row: PolicyTrial.Row
    ) async -> (Bool?, [Explanation.Step]) {
        let shown = await trial.row(row)
        var steps: [Explanation.Step] = []
        var (isPermitted, isRestricted) = (false, false)
        for policy in policies {
            guard let text = isNew ? policy.check ?? policy.using : policy.using else { continue }
            let condition = SQLCondition(text)
            let kind = (isNew ? "with check" : "using") + (policy.isPermissive ? "" : ", restrictive")
            guard let values = await trial.values(of: [condition.text], on: row) else {
                steps.append(
                    Explanation.Step(
                        source: .policy, name: policy.name, rule: "\(kind) (\(condition.text))", result: .no,
                        operands: [
                            Explanation.Step.Operand(text: "the row", value: "there is no such row", isDecisive: true)
                        ]))
                continue
            }
            let result: Explanation.Step.Result
            switch values[0] {
            case .failure: result = .error
            case let value: result = value.isTrue ? .yes : .no
            }
            steps.append(
                Explanation.Step(
                    source: .policy, name: policy.name, rule: "\(kind) (\(condition.text))", result: result,
                    operands: await operands(of: condition, row, isTrue: result == .yes), row: shown))
            if policy.isPermissive {
                isPermitted = isPermitted || result == .yes
            } else if result != .yes {
                isRestricted = true
            }
        }
        return (isPermitted && !isRestricted, steps)
    }

    /// The parts of a condition with their values, and both sides of those that compare.
    private func operands(
        of condition: SQLCondition, _ row: PolicyTrial.Row, isTrue: Bool
    ) async -> [Explanation.Step.Operand] {
        let parts =
            switch condition.form {
            case .all(let parts), .any(let parts): parts.map(SQLCondition.init)
            case .single: [condition]
            }
        guard let values = await trial.values(of: parts.map(\.text), on: row) else { return [] }
        var operands: [Explanation.Step.Operand] = []
        for (part, value) in zip(parts, values) {
            var shown = value.shown
            if let sides = part.sides, let both = await trial.values(of: [sides.left, sides.right], on: row) {
                shown += ": \(both[0].shown) and \(both[1].shown)"
            }
            operands.append(
                Explanation.Step.Operand(text: part.text, value: shown, isDecisive: value.isTrue == isTrue))
        }
        return operands
    }

    // MARK: Facts

    private struct Facts: Sendable {
        let isGranted: Bool
        let isGuarded: Bool
        let bypasses: Bool
        let policies: [Policy]
    }

    private func facts(_ deed: Deed) async -> Facts? {
        let sql = """
            select jsonb_build_object(
              'granted', has_table_privilege($3, c.oid, $4) or has_any_column_privilege($3, c.oid, $4),
              'guarded', c.relrowsecurity,
              'bypasses', (select r.rolbypassrls or r.rolsuper from pg_roles r where r.rolname = $3),
              'policies', coalesce((select jsonb_agg(jsonb_build_object('name', p.policyname,
                'permissive', p.permissive = 'PERMISSIVE', 'using', p.qual, 'check', p.with_check)
                  order by p.permissive, p.policyname)
                from pg_policies p where p.schemaname = n.nspname and p.tablename = c.relname
                  and p.cmd in ('ALL', upper($4)) and ('public' = any (p.roles) or exists (
                    select from unnest(p.roles) r where r <> 'public' and pg_has_role($3, r, 'usage')))), '[]'))
            from pg_class c join pg_namespace n on n.oid = c.relnamespace
            where n.nspname = $1 and c.relname = $2 and c.relkind in ('r', 'p', 'v', 'm', 'f')
            """
        let results = try? await trial.database.run([
            PostgresStatement(sql, [trial.schema, trial.table, token.role, deed.rawValue])
        ])
        guard let text = results?[0].text, let json = try? JSON(parsing: text) else { return nil }
        return Facts(
            isGranted: json["granted"]?.bool ?? false, isGuarded: json["guarded"]?.bool ?? false,
            bypasses: json["bypasses"]?.bool ?? false,
            policies: (json["policies"]?.array ?? []).map { policy in
                Policy(
                    name: policy["name"]?.string ?? "", isPermissive: policy["permissive"]?.bool ?? true,
                    using: policy["using"]?.string, check: policy["check"]?.string)
            })
    }
}
