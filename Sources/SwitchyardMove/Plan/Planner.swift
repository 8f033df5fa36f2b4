import Switchyard
import SwitchyardBytes

/// Makes a plan: counts, and reads a part of the documents.
struct Planner {
    let from: any MoveEnd
    let to: any MoveEnd
    let options: MoveOptions
    private static let pageSize = 100
    private static let shownProblems = 100

    func plan() async throws(MoveError) -> MovePlan {
        var plan = MovePlan(from: from.name, to: to.name)
        if let (source, target) = both(.documents, from.documents, to.documents, &plan) {
            try await add(source, target, to: &plan)
        }
        if let (source, target) = both(.accounts, from.accounts, to.accounts, &plan) {
            try await add(source, target, to: &plan)
        }
        if let (source, _) = both(.files, from.files, to.files, &plan) {
            var files = MovePlan.Files()
            try await during("Listing the files of \(from.name)") {
                try await source.forEachPage { page in
                    files.count += page.count
                    for file in page { files.bytes += file.size }
                }
            }
            plan.files = files
            if files.count > 0, to is BackendEnd {
                plan.remarks.append("Files need their bucket, and its rules or policies, on \(to.name).")
            }
        }
        if to is BackendEnd {
            plan.remarks.append("Apps subscribe to their topics again: no backend lists subscriptions.")
        }
        return plan
    }

    /// The service on both ends, or a remark why it does not take part.
    private func both<Service>(
        _ part: MovePart, _ source: MoveService<Service>, _ target: MoveService<Service>, _ plan: inout MovePlan
    ) -> (Service, Service)? {
        guard options.parts.contains(part) else { return nil }
        for (end, service) in [(from, source), (to, target)] {
            if let reason = service.absence {
                plan.remarks.append(
                    "The \(part.rawValue) do not take part, for \(end.name) has none. \(reason)")
            }
        }
        guard let source = source.service, let target = target.service else { return nil }
        return (source, target)
    }

    // MARK: Documents

    private func add(
        _ source: any MoveDocuments, _ target: any MoveDocuments, to plan: inout MovePlan
    ) async throws(MoveError) {
        plan.remarks += source.requirements + target.requirements
        var names = options.collections
        if names.isEmpty {
            let found = try await during("Listing the collections of \(from.name)") {
                try await source.collections(under: nil)
            }
            guard let found else {
                throw MoveError(
                    .invalidArgument,
                    "\(from.name) cannot list its collections. Name those to move, such as --collections users,orders.")
            }
            names = found
        }
        var known = Set<String>()
        names = names.filter { known.insert($0).inserted }
        var next = 0
        while next < names.count {
            let name = names[next]
            next += 1
            let found = try await during("Reading “\(name)” of \(from.name)") {
                try await sample(name, source, target.limits, &plan)
            }
            guard options.collections.isEmpty else { continue }
            names += found.filter { known.insert($0).inserted }
        }
        plan.collections.sort { $0.name < $1.name }
        if options.collections.isEmpty, !plan.isThorough, from is BackendEnd {
            plan.remarks.append(
                "Only a part of the documents was read. Collections below the others, and values in them, are not in this "
                    + "plan; --thorough reads all.")
        }
        if plan.documents > 0, to is BackendEnd {
            plan.remarks.append(
                "Queries of your app may need indexes on \(to.name), and access needs its rules or policies there.")
            plan.remarks.append(
                "The server of \(to.name) sets new create and update times. Times in fields stay exact.")
        }
    }

    /// Reads documents of one collection.
    ///
    /// - Returns: The names of the collections below them.
    private func sample(
        _ name: String, _ source: any MoveDocuments, _ limits: ValueLimits, _ plan: inout MovePlan
    ) async throws -> [String] {
        let count = try await source.count(of: name)
        var found: Set<String> = []
        var (sampled, bytes, place) = (0, 0, String?.none)
        let wanted = options.sample ?? .max
        while sampled < wanted {
            let page = try await source.page(
                of: DocumentRange(collection: name), after: place, limit: min(Self.pageSize, wanted - sampled))
            if page.documents.isEmpty { break }
            sampled += page.documents.count
            place = page.place
            for document in page.documents {
                bytes += (document.data?.storedBytes ?? 0) + document.path.rawValue.utf8.count
                let room = Self.shownProblems - plan.problems.count
                if room > 0 { plan.problems += limits.problems(in: document).prefix(room) }
            }
            if options.collections.isEmpty { found.formUnion(try await below(page.documents, source)) }
        }
        guard count > 0 || sampled > 0 else { return [] }
        let documents = max(count, sampled)
        plan.collections.append(
            MovePlan.Collection(
                name: name, documents: documents, bytes: sampled == 0 ? 0 : bytes * documents / sampled,
                sampled: sampled))
        return found.sorted()
    }

    private func below(_ documents: [DocumentSnapshot], _ source: any MoveDocuments) async throws -> Set<String> {
        try await withThrowingTaskGroup(of: [String].self) { group in
            var found: Set<String> = []
            for (index, document) in documents.enumerated() {
                if index >= options.parallel, let names = try await group.next() { found.formUnion(names) }
                group.addTask { try await source.collections(under: document.path) ?? [] }
            }
            for try await names in group { found.formUnion(names) }
            return found
        }
    }

    // MARK: Accounts

    private func add(
        _ source: any MoveAccounts, _ target: any MoveAccounts, to plan: inout MovePlan
    ) async throws(MoveError) {
        var accounts = MovePlan.Accounts()
        try await during("Listing the accounts of \(from.name)") {
            var place: String?
            repeat {
                let page = try await source.page(after: place, limit: 500)
                for account in page.accounts { accounts.add(account, on: target) }
                place = page.place
            } while place != nil
        }
        plan.accounts = accounts
        guard accounts.count > 0, to is BackendEnd else { return }
        plan.remarks.append("Sessions cannot come: everyone signs in again.")
        if accounts.needingNewPassword > 0 {
            plan.remarks.append(
                "\(Shown.count(accounts.needingNewPassword, "account")) without a known password hash: send links that set a "
                    + "new password, or pass the hashes with --hashes.")
        }
        if accounts.withOtherID > 0 {
            plan.remarks.append(
                "\(Shown.count(accounts.withOtherID, "account")) with an ID that \(to.name) does not accept: names of documents, "
                    + "references and paths of files are rewritten, and so are the fields that --owner-fields names.")
        }
        if accounts.withSecondFactor > 0 {
            plan.remarks.append("Second factors cannot come: their owners enroll again.")
        }
    }
}

extension MovePlan.Accounts {
    fileprivate mutating func add(_ account: MovedAccount, on target: any MoveAccounts) {
        let user = account.account.user
        count += 1
        if user.isAnonymous { anonymous += 1 }
        if !target.accepts(account.id) { withOtherID += 1 }
        if !user.secondFactors.isEmpty { withSecondFactor += 1 }
        if let hash = account.passwordHash, target.passwordHashes.contains(hash.kind) {
            withPassword += 1
        } else if user.identities.contains(.password) || (user.identities.isEmpty && user.email != nil) {
            needingNewPassword += 1
        }
    }
}
