import Foundation
import Switchyard
import SwitchyardBytes

/// Compares both ends, and copies again what differs.
struct Verifier: Sendable {
    private let move: Move
    private let plan: MovePlan
    private let rewriter: IDRewriter

    init(_ move: Move, _ plan: MovePlan, _ rewriter: IDRewriter) {
        self.move = move
        self.plan = plan
        self.rewriter = rewriter
    }

    func verify(repairs: Bool) async throws(MoveError) -> MoveVerification {
        var verification = MoveVerification()
        if let (source, target) = move.both(.accounts, move.from.accounts, move.to.accounts) {
            try await during("Comparing accounts") { try await compare(source, target, repairs, &verification) }
        }
        if let (source, target) = move.both(.documents, move.from.documents, move.to.documents) {
            let comparison = DocumentComparison(
                source: source, target: target, rewriter: rewriter, parallel: move.options.parallel)
            for collection in plan.collections.map(\.name) {
                try await during("Comparing “\(collection)”") {
                    try await comparison.compare(collection, repairs, &verification)
                }
            }
        }
        if let (source, target) = move.both(.files, move.from.files, move.to.files) {
            let comparison = FileComparison(source: source, target: target, rewriter: rewriter)
            try await during("Comparing files") { try await comparison.compare(repairs, &verification) }
        }
        return verification
    }

    private func compare(
        _ source: any MoveAccounts, _ target: any MoveAccounts, _ repairs: Bool, _ verification: inout MoveVerification
    ) async throws {
        var place: String?
        repeat {
            let page = try await source.page(after: place, limit: 100)
            let found = try await target.accounts(page.accounts.map { rewriter.rewritten($0.id) })
            for (account, found) in zip(page.accounts, found) {
                verification.accounts += 1
                var difference = MoveVerification.Difference(
                    part: .accounts, kind: found == nil ? .missing : .changed, subject: rewriter.rewritten(account.id))
                if let found { difference.fields = account.differences(from: found) }
                if found != nil, difference.fields.isEmpty { continue }
                if repairs, found == nil {
                    let outcome = try await target.add([account], page: "repaired-\(account.id)")
                    difference.isRepaired = outcome == [.kept] || outcome == [.renamed(difference.subject)]
                }
                verification.differences.append(difference)
            }
            place = page.place
        } while place != nil
    }
}

extension MovedAccount {
    /// The properties in which two accounts differ, of those that can be moved.
    fileprivate func differences(from other: MovedAccount) -> [String] {
        let (left, right) = (account, other.account)
        var names: [String] = []
        if left.email?.lowercased() != right.email?.lowercased() { names.append("email") }
        if left.user.isEmailVerified != right.user.isEmailVerified { names.append("isEmailVerified") }
        if left.user.phoneNumber != right.user.phoneNumber { names.append("phoneNumber") }
        if left.user.displayName != right.user.displayName { names.append("displayName") }
        if left.user.photoURL != right.user.photoURL { names.append("photoURL") }
        if left.isDisabled != right.isDisabled { names.append("isDisabled") }
        // A backend may add claims of its own.
        if !left.claims.allSatisfy({ right.claims[$0.key] == $0.value }) { names.append("claims") }
        return names
    }
}
