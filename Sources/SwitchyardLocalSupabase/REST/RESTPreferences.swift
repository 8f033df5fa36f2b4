import SwitchyardBytes
import SwitchyardServerKit
import Synchronization

/// The preferences of a request. Of several with one name, the first known one counts.
struct RESTPreferences: Hashable, Sendable {
    enum Returning: String, CaseIterable {
        case minimal, representation
        case headersOnly = "headers-only"
    }
    enum Counting: String, CaseIterable {
        case exact, planned, estimated
    }
    enum Resolution: String, CaseIterable {
        case mergeDuplicates = "merge-duplicates"
        case ignoreDuplicates = "ignore-duplicates"
    }
    enum Ending: String, CaseIterable {
        case commit, rollback
    }
    enum Missing: String, CaseIterable {
        case defaults = "default"
        case nulls = "null"
    }
    enum Handling: String, CaseIterable {
        case strict, lenient
    }

    private(set) var returning: Returning?
    private(set) var counting: Counting?
    private(set) var resolution: Resolution?
    /// Whether to keep what the transaction does; counts only where the project allows it.
    private(set) var ending: Ending?
    private(set) var missing: Missing?
    private(set) var handling: Handling?
    private(set) var timeZone: String?
    private(set) var limit: Int64?
    private(set) var unknown: [String] = []

    init(_ fields: [String]) {
        for text in fields.flatMap({ $0.split(separator: ",", omittingEmptySubsequences: false) }) {
            let preference = text.trimmed
            let parts = preference.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let (name, value) = (String(parts.first ?? ""), String(parts.dropFirst().first ?? ""))
            var isKnown = true
            func take<Value: RawRepresentable<String>>(_ old: inout Value?) {
                let given = Value(rawValue: value)
                isKnown = given != nil
                old = old ?? given
            }
            switch name {
            case "return": take(&returning)
            case "count": take(&counting)
            case "resolution": take(&resolution)
            case "tx": take(&ending)
            case "missing": take(&missing)
            case "handling": take(&handling)
            case "timezone" where parts.count > 1: timeZone = timeZone ?? value
            case "max-affected" where parts.count > 1: limit = limit ?? Int64(value)
            default: isKnown = false
            }
            if !isKnown { unknown.append(preference) }
        }
    }

    var takesDefaults: Bool { missing == .defaults }

    /// The greatest number of rows to change.
    var maximumAffected: Int64? { handling == .strict ? limit : nil }

    /// Drops what the project does not allow or the database does not know.
    ///
    /// - Throws: For an unknown preference, if handling is strict.
    mutating func settle(allowsEnding: Bool, knowsTimeZone: Bool) throws(RESTFailure) {
        if !allowsEnding { ending = nil }
        if let zone = timeZone, !knowsTimeZone {
            unknown.append("timezone=\(zone)")
            timeZone = nil
        }
        guard handling != .strict || unknown.isEmpty else {
            var failure = RESTFailure(400, "PGRST122", "Invalid preferences given with handling=strict")
            failure.details = .string("Invalid preferences: " + unknown.joined(separator: ", "))
            throw failure
        }
    }

    /// What a request does, which decides which preferences concern it.
    enum Deed {
        case read, update, put, delete, call
        /// - Parameter resolves: Whether there are columns that may collide.
        case insert(resolves: Bool)
    }

    /// Those that were applied, in the order of the vendor's service.
    func applied(to deed: Deed) -> [String] {
        var isInsert = false
        var resolves = false
        if case .insert(let columns) = deed { (isInsert, resolves) = (true, columns) }
        let (isWrite, isUpdate, isLimited): (Bool, Bool, Bool) =
            switch deed {
            case .read: (false, false, false)
            case .call: (false, false, true)
            case .insert, .put: (true, false, false)
            case .update: (true, true, true)
            case .delete: (true, false, true)
            }
        return [
            resolves ? resolution.map { "resolution=\($0.rawValue)" } : nil,
            isInsert || isUpdate ? missing.map { "missing=\($0.rawValue)" } : nil,
            isWrite ? returning.map { "return=\($0.rawValue)" } : nil,
            counting.map { "count=\($0.rawValue)" },
            ending.map { "tx=\($0.rawValue)" },
            handling.map { "handling=\($0.rawValue)" },
            timeZone.map { "timezone=\($0)" },
            isLimited ? maximumAffected.map { "max-affected=\($0)" } : nil,
        ].compactMap { $0 }
    }
}

/// The names of time zones that the database knows, read once.
final class KnownTimeZones: Sendable {
    private let names = Mutex<Set<String>?>(nil)

    func contains(_ name: String, in database: SupabaseDatabase) async throws(PostgresFailure) -> Bool {
        if let names = names.withLock({ $0 }) { return names.contains(name) }
        let found = try await database.run([PostgresStatement("select name from pg_catalog.pg_timezone_names")])
        let read = Set(
            found[0].rows.compactMap { row in row.first.flatMap { $0 }.map { String(decoding: $0, as: UTF8.self) } })
        names.withLock { $0 = read }
        return read.contains(name)
    }
}

/// What a project's owner has set for the data service, with `alter role authenticator set pgrst.…`.
struct RESTConfiguration: Sendable {
    private let values: [String: String]

    /// Those of the database come before those of the whole server.
    static func read(from database: SupabaseDatabase) async throws(PostgresFailure) -> RESTConfiguration {
        let found = try await database.run([
            PostgresStatement(
                """
                select split_part(s, '=', 1), substr(s, strpos(s, '=') + 1)
                from pg_catalog.pg_db_role_setting r join pg_catalog.pg_roles o on o.oid = r.setrole, unnest(r.setconfig) s
                where o.rolname = $1 and starts_with(s, 'pgrst.')
                  and r.setdatabase in (0, (select oid from pg_catalog.pg_database where datname = current_database()))
                order by r.setdatabase
                """, [SupabaseDatabase.authenticator], isPrepared: true)
        ])
        var values: [String: String] = [:]
        for row in found[0].rows {
            let texts = row.map { $0.map { String(decoding: $0, as: UTF8.self) } ?? "" }
            if texts.count == 2 { values[texts[0]] = texts[1] }
        }
        return RESTConfiguration(values: values)
    }

    private func isOn(_ name: String) -> Bool? {
        values["pgrst." + name].map { ["true", "on", "yes", "1"].contains($0.lowercased()) }
    }

    var allowsPlans: Bool { isOn("db_plan_enabled") ?? false }
    var allowsAggregates: Bool? { isOn("db_aggregates_enabled") }
    /// Whether a request may say that its changes are taken back.
    var allowsEnding: Bool { values["pgrst.db_tx_end"]?.hasSuffix("-allow-override") ?? false }
}
