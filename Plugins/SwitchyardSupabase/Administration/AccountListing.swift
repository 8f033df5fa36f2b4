import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// Lists a project's accounts, oldest first, without skipping or repeating any while accounts are created and deleted.
///
/// The service numbers its pages, so a deletion before a page shifts accounts across its edge. It sorts by creation time only,
/// so accounts created at the same time, for example by a script, come in any order. Hence each page is taken from a single
/// answer that begins before the accounts needed, and an account is used only if the answer contains all accounts of the same
/// time.
struct AccountListing: Sendable {
    /// Fetches a page of this size, numbered from one, in ascending order of creation.
    typealias Fetch = @Sendable (_ size: Int, _ number: Int) async throws(AuthError) -> [JSON]

    let fetch: Fetch

    struct Row: Sendable {
        let moment: Timestamp
        let id: AuthUser.ID
        let json: JSON

        init(_ json: JSON) throws(AuthError) {
            guard let id = json["id"]?.string, let text = json["created_at"]?.string, let time = RFC3339.parse(text)
            else { throw AuthError(SupabaseAuthFailure.unreadable) }
            self.id = id
            self.json = json
            moment = Timestamp(clampingSeconds: time.seconds, nanoseconds: time.nanoseconds)
        }

        static func comesBefore(_ one: Row, _ other: Row) -> Bool {
            one.moment == other.moment ? one.id < other.id : one.moment < other.moment
        }
    }

    /// The last account returned.
    struct Place: Sendable, Hashable {
        let moment: Timestamp
        let id: AuthUser.ID
        /// The index, from zero, of the last account with an earlier time, which the next answer must contain.
        let index: Int

        func isBefore(_ row: Row) -> Bool { row.moment == moment ? id < row.id : moment < row.moment }
    }

    /// The same limit as in the service's own cursors.
    static let mostRows = 1000
    /// Enough to make up for half a million deletions between two pages.
    private static let mostAnswers = 1000

    /// - Returns: At most `limit` rows, and the cursor of the last one; `nil` at the end.
    func page(after place: Place?, limit: Int) async throws(AuthError) -> (rows: [Row], next: Place?) {
        var start = place?.index ?? 0
        // The answer also needs an account with an earlier time, the last account returned, and one with a later time.
        var count = min(limit + (place == nil ? 1 : 3), Self.mostRows)
        var step = limit
        for _ in 0..<Self.mostAnswers {
            let (size, number) = Self.window(from: start, count: count)
            let offset = size * (number - 1)
            let rows = try await rows(size, number)
            if offset > 0, let place, rows.first.map({ $0.moment >= place.moment }) ?? true {
                // Deletions have shifted accounts forward, perhaps across the start of this answer.
                start = max(0, offset - step)
                step *= 2
                continue
            }
            let isWhole = rows.count < size
            guard let edge = rows.last?.moment else { return ([], nil) }
            // More accounts with the last time may follow.
            let fresh = rows.filter { (isWhole || $0.moment < edge) && place?.isBefore($0) != false }
                .sorted(by: Row.comesBefore)
            if let last = fresh.prefix(limit).last {
                let isEnd = isWhole && fresh.count <= limit
                let before = rows.lastIndex { $0.moment < last.moment } ?? 0
                let next = Place(moment: last.moment, id: last.id, index: offset + before)
                return (Array(fresh.prefix(limit)), isEnd ? nil : next)
            }
            if isWhole { return ([], nil) }
            if let place, edge < place.moment {
                // Too early: accounts were added before, or the step back was too long.
                start = offset + rows.count - 1
                count = max(count, min(count * 2, Self.mostRows / 2))
            } else {
                start = offset + (rows.lastIndex { $0.moment < edge } ?? 0)
                count *= 2
            }
        }
        throw AuthError(
            .unavailable,
            "The accounts changed too often to be listed. Try again when fewer accounts are created and deleted.")
    }

    private func rows(_ size: Int, _ number: Int) async throws(AuthError) -> [Row] {
        var rows: [Row] = []
        for json in try await fetch(size, number) {
            let row = try Row(json)
            // Wrong sorting by the server would skip accounts.
            if let last = rows.last, row.moment < last.moment { throw AuthError(SupabaseAuthFailure.unreadable) }
            rows.append(row)
        }
        return rows
    }

    /// The service's page with `count` rows from `start` on, or with as many of them as a page of the usual size can have:
    /// pages begin only at multiples of their size.
    static func window(from start: Int, count: Int) -> (size: Int, number: Int) {
        let most = count <= mostRows ? mostRows : 2 * count + 64
        var best = (size: count, rows: 0)
        for size in max(1, count / 2)...most {
            let rows = size - start % size
            if size >= count, rows >= count { return (size, start / size + 1) }
            if rows > best.rows { best = (size, rows) }
        }
        return (best.size, start / best.size + 1)
    }
}

extension AccountListing.Place {
    /// - Throws: `.invalidArgument` for a cursor of another provider.
    init(_ cursor: AccountCursor) throws(AuthError) {
        let parts = cursor.rawValue.split(separator: "/")
        guard parts.count == 3, let time = RFC3339.parse(parts[0]), let index = Int(parts[1]),
            (0..<1 << 40).contains(index)
        else {
            throw AuthError(
                .invalidArgument, "The cursor cannot be read. Take one from a page of this provider's accounts.")
        }
        self.init(
            moment: Timestamp(clampingSeconds: time.seconds, nanoseconds: time.nanoseconds), id: String(parts[2]),
            index: index)
    }

    var cursor: AccountCursor {
        let time = RFC3339.format(RFC3339.Moment(seconds: moment.seconds, nanoseconds: moment.nanoseconds))
        return AccountCursor(rawValue: "\(time)/\(index)/\(id)")
    }
}

/// Looking up and listing accounts.
extension SupabaseAdminClient {
    func accounts(_ keys: [AccountKey]) async throws(AuthError) -> [ManagedAccount?] {
        try Self.checkCancellation()
        let asked = Array(Set(keys))
        let phones = asked.compactMap { key -> String? in
            guard case .phoneNumber(let number) = key else { return nil }
            return SupabaseAccountFields.digits(ofPhone: number)
        }
        let numbers = try await ids(ofPhones: Set(phones))
        let results = try await each(asked) { key throws(AuthError) -> ManagedAccount? in
            let id =
                switch key {
                case .id(let id): id
                case .email(let email): try await id(ofEmail: email)
                case .phoneNumber(let number): SupabaseAccountFields.digits(ofPhone: number).flatMap { numbers[$0] }
                }
            // Lists contain only a part of each account.
            guard let id, let json = try await json(of: id) else { return nil }
            return ManagedAccount(supabase: json, at: service.now())
        }
        var found: [AccountKey: ManagedAccount] = [:]
        for (key, result) in zip(asked, results) { found[key] = try result.get() }
        return keys.map { found[$0] }
    }

    /// The account as stored by the service; `nil` if it does not exist.
    func json(of id: AuthUser.ID) async throws(AuthError) -> JSON? {
        guard SupabaseAccountFields.isID(id) else { return nil }
        do throws(AuthError) {
            return try await call(.get, "/admin/users/\(id)")
        } catch {
            guard error.code == .userNotFound else { throw error }
            return nil
        }
    }

    func id(ofEmail email: String) async throws(AuthError) -> AuthUser.ID? {
        guard SupabaseAccountFields.isEmail(email) else { return nil }
        let email = email.lowercased()
        // The search term is a pattern, in which a backslash does not stand for itself.
        let pattern = String(email.map { $0 == "\\" ? "_" : $0 })
        return try await first(in: walk(matching: pattern), limit: 100) { $0["email"]?.string?.lowercased() == email }
    }

    private func first(
        in walk: AccountListing, limit: Int, where isMeant: (JSON) -> Bool
    ) async throws(AuthError) -> AuthUser.ID? {
        var place: AccountListing.Place?
        repeat {
            let page = try await walk.page(after: place, limit: limit)
            for row in page.rows where isMeant(row.json) { return row.id }
            place = page.next
        } while place != nil
        return nil
    }

    /// Walks through all accounts once, and stops when the last number is found.
    func ids(ofPhones phones: Set<String>) async throws(AuthError) -> [String: AuthUser.ID] {
        guard !phones.isEmpty else { return [:] }
        var found: [String: AuthUser.ID] = [:]
        _ = try await first(in: walk(), limit: AccountListing.mostRows) { json in
            let id = json["id"]?.string
            if let id, let phone = json["phone"]?.string, phones.contains(phone) { found[phone] = id }
            return found.count == phones.count
        }
        return found
    }

    func accountPage(after cursor: AccountCursor?, limit: Int) async throws(AuthError) -> AccountPage {
        guard (1...1000).contains(limit) else {
            throw AuthError(.invalidArgument, "A page has 1 to 1000 accounts, not \(limit).")
        }
        var place: AccountListing.Place?
        if let cursor { place = try AccountListing.Place(cursor) }
        while true {
            let (rows, next) = try await walk().page(after: place, limit: limit)
            let accounts = rows.compactMap { ManagedAccount(supabase: $0.json, at: service.now()) }
            guard accounts.isEmpty, next != nil else { return AccountPage(accounts: accounts, next: next?.cursor) }
            place = next
        }
    }

    /// - Parameter pattern: Part of the address or the name.
    private func walk(matching pattern: String? = nil) -> AccountListing {
        AccountListing { size, number throws(AuthError) in
            var query = [
                (name: "page", value: "\(number)"), (name: "per_page", value: "\(size)"),
                (name: "sort", value: "created_at asc"),
            ]
            if let pattern { query.append((name: "filter", value: pattern)) }
            let answer = try await call(.get, "/admin/users?\(FormCoding.encode(query, space: .percent))")
            guard let users = answer["users"]?.array else { throw AuthError(SupabaseAuthFailure.unreadable) }
            return users
        }
    }
}
