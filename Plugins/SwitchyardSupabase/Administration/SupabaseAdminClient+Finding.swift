import Switchyard
import SwitchyardBytes
import SwitchyardWire

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
