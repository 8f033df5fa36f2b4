import Foundation
import Switchyard

extension AdminConformance {
    /// The time to list all accounts of a project, which may have more than those of the checks.
    private static let walking = Duration.seconds(180)

    static let pageChecks: [AdminCheck] = [
        AdminCheck("large pages show every account once", deadline: walking) { context in
            let ids = try await create(5, context)
            var walk = Walk(context)
            while try await walk.step(1000) {}
            try expectEqual(Set(walk.own), ids, "which of the check's accounts show")
        },
        AdminCheck("pages of one and of two show accounts one by one", deadline: walking) { context in
            let ids = try await create(5, context)
            var walk = Walk(context)
            for limit in [1, 1, 2, 1, 2] {
                guard try await walk.step(limit) else { break }
            }
            try expect(walk.seen.count > 1, "they show somebody", found: "\(walk.seen.count) accounts")
            while try await walk.step(1000) {}
            try expectEqual(Set(walk.own), ids, "which of the check's accounts show")
        },
        AdminCheck("the size of pages may change on the way", deadline: walking) { context in
            let ids = try await create(8, context)
            var walk = Walk(context)
            var isOn = true
            while isOn {
                for limit in [3, 200, 7, 1] where isOn { isOn = try await walk.step(limit) }
            }
            try expectEqual(Set(walk.own), ids, "which of the check's accounts show")
        },
        AdminCheck("pages of less than one and of more than a thousand are refused") { context in
            for limit in [0, -1, 1001, Int.max] {
                try await context.expectFailure(.invalidArgument, in: "a page of \(limit)") {
                    try await context.client.accountPage(after: nil, limit: limit)
                }
            }
        },
        AdminCheck("deleting accounts that were shown skips no one", deadline: walking) { context in
            let ids = try await create(12, context)
            var walk = Walk(context)
            var deleted: Set<AuthUser.ID> = []
            while try await walk.step(5) {
                let shown = Set(walk.own).subtracting(deleted)
                guard !shown.isEmpty else { continue }
                try await delete(Array(shown), context)
                deleted.formUnion(shown)
            }
            try expectEqual(Set(walk.own), ids, "which of the check's accounts show")
        },
        AdminCheck("deleting accounts that are still to come skips no one else", deadline: walking) { context in
            let ids = try await create(12, context)
            var walk = Walk(context)
            var deleted: Set<AuthUser.ID> = []
            while try await walk.step(5) {
                let waiting = ids.subtracting(walk.own).subtracting(deleted)
                guard waiting.count > 1, let one = waiting.randomElement() else { continue }
                try await delete([one], context)
                deleted.insert(one)
            }
            let left = ids.subtracting(deleted)
            try expectEqual(left.subtracting(walk.own), [], "which of those that were always there do not show")
        },
        AdminCheck("deleting the last one that was shown skips no one", deadline: walking) { context in
            let ids = try await create(6, context)
            var walk = Walk(context)
            var deleted: Set<AuthUser.ID> = []
            // With pages of one account, the cursor refers to the account just returned.
            for _ in 0..<4 {
                guard try await walk.step(1) else { break }
                guard let last = walk.seen.last, ids.contains(last), deleted.insert(last).inserted else { continue }
                try await delete([last], context)
            }
            while try await walk.step(3) {
                guard let last = walk.seen.last, ids.contains(last), deleted.insert(last).inserted else { continue }
                try await delete([last], context)
            }
            try expectEqual(Set(walk.own), ids, "which of the check's accounts show")
        },
        AdminCheck("new accounts move no one out of sight, and no one into sight again", deadline: walking) { context in
            let ids = try await create(10, context)
            var walk = Walk(context)
            var made = 0
            while try await walk.step(4) {
                guard made < 8 else { continue }
                try await context.create("new\(made)")
                made += 1
            }
            try expectEqual(ids.subtracting(walk.own), [], "which of those that were always there do not show")
        },
        AdminCheck("accounts that come and go meanwhile change nothing for the others", deadline: walking) { context in
            let ids = try await create(9, context)
            var walk = Walk(context)
            var brief: [AuthUser.ID] = []
            var made = 0
            while try await walk.step(4) {
                try await delete(brief, context)
                brief = []
                guard made < 8 else { continue }
                for _ in 0..<2 {
                    brief.append(try await context.create("brief\(made)").id)
                    made += 1
                }
            }
            try expectEqual(ids.subtracting(walk.own), [], "which of those that were always there do not show")
        },
        AdminCheck("a cursor that was kept as text goes on in another client", deadline: walking) { context in
            let ids = try await create(6, context)
            var walk = Walk(context)
            guard try await walk.step(2) else {
                throw ConformanceFailure(expectation: "a page of two is not the last", found: "it is")
            }
            let kept = try JSONEncoder().encode(walk.cursor)
            walk.cursor = try JSONDecoder().decode(AccountCursor?.self, from: kept)
            walk.client = try await context.harness.makeAdminClient()
            while try await walk.step(500) {}
            try expectEqual(Set(walk.own), ids, "which of the check's accounts show")
        },
        AdminCheck("the same cursor twice gives the same page", deadline: walking) { context in
            _ = try await create(4, context)
            let first = try await context.client.accountPage(after: nil, limit: 2)
            let cursor = try expectValue(first.next, "a place where the next page begins")
            for _ in 0..<2 {
                let page = try await context.client.accountPage(after: cursor, limit: 1000)
                let again = page.accounts.map(\.id).filter(Set(first.accounts.map(\.id)).contains)
                try expectEqual(again, [], "who shows again")
            }
        },
        AdminCheck("pages come one after the other, and end", deadline: walking) { context in
            let ids = try await create(5, context)
            var seen: [AuthUser.ID] = []
            var pages = context.client.accountPages(size: 50).makeAsyncIterator()
            while let page = try await pages.next() {
                try expect(page.accounts.count <= 50, "no page is too large", found: "\(page.accounts.count) accounts")
                seen += context.own(page.accounts)
            }
            try expectEqual(seen.count, Set(seen).count, "how many show, counted once each")
            try expectEqual(Set(seen), ids, "which of the check's accounts show")
            let beyond = try await pages.next()
            try expect(beyond == nil, "nothing comes after the end", found: "a page")
        },
        AdminCheck("an account looks the same on a page as alone", deadline: walking) { context in
            let made = try await context.create {
                $0.phoneNumber = context.phoneNumber()
                $0.displayName = "Alice"
                $0.photoURL = URL(string: "https://example.com/alice.png")
                $0.isDisabled = true
                $0.claims = ["role": "editor", "nested": ["list": [1, 2.5, "x"]]]
            }
            var shown: ManagedAccount?
            for try await page in context.client.accountPages() {
                shown = shown ?? page.accounts.first { $0.id == made.id }
            }
            let account = try expectValue(shown, "the account on a page")
            try expectEqual(account.email, context.email(), "the address")
            try expectEqual(account.user.isEmailVerified, true, "whether the address is confirmed")
            try expectEqual(account.user.phoneNumber, context.phoneNumber(), "the number")
            try expectEqual(account.user.displayName, "Alice", "the name")
            try expectEqual(account.user.photoURL, made.user.photoURL, "the picture")
            try expectEqual(account.isDisabled, true, "whether the account is disabled")
            try expectEqual(account.claims, made.claims, "the claims")
        },
    ].within("pages")

    private static func create(_ count: Int, _ context: AdminContext) async throws -> Set<AuthUser.ID> {
        var ids: Set<AuthUser.ID> = []
        for index in 0..<count { ids.insert(try await context.create("user\(index)").id) }
        return ids
    }

    private static func delete(_ ids: [AuthUser.ID], _ context: AdminContext) async throws {
        try expectEqual(try await context.client.delete(ids).map(\.key), [], "who was not deleted")
    }

    /// Iterates over all accounts of the project, page by page. Fails if a page is too large, or repeats an account.
    private struct Walk {
        let context: AdminContext
        var client: any AdminClient
        var cursor: AccountCursor?
        private(set) var seen: [AuthUser.ID] = []
        /// The accounts of the check.
        private(set) var own: [AuthUser.ID] = []
        private var known: Set<AuthUser.ID> = []
        private var isAtEnd = false

        init(_ context: AdminContext) {
            self.context = context
            client = context.client
        }

        /// - Returns: Whether there is more to come.
        mutating func step(_ limit: Int) async throws -> Bool {
            guard !isAtEnd else { return false }
            let page = try await client.accountPage(after: cursor, limit: limit)
            try expect(
                page.accounts.count <= limit, "a page has at most \(limit) accounts",
                found: "\(page.accounts.count)")
            for account in page.accounts {
                try expect(known.insert(account.id).inserted, "no one shows twice", found: "\(account) again")
            }
            seen += page.accounts.map(\.id)
            own += context.own(page.accounts)
            cursor = page.next
            isAtEnd = page.next == nil
            return !isAtEnd
        }
    }
}
