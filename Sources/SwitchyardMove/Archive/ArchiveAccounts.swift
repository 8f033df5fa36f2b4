import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// The accounts of an archive: `accounts/PAGE.jsonl`.
struct ArchiveAccounts: MoveAccounts {
    private let lines: LineFolder
    private let index: LineIndex
    let passwordHashes = Set(PasswordHash.Kind.allCases)

    init(lines: LineFolder) {
        self.lines = lines
        index = LineIndex(lines) { line in
            let key: Key = try JSONBytesDecoder().decode(from: line)
            return key.id
        }
    }

    private struct Key: Decodable { let id: String }

    func accepts(_ id: AuthUser.ID) -> Bool { true }

    func page(after place: String?, limit: Int) async throws -> MovedAccountPage {
        let (found, place) = try lines.lines(after: place, limit: limit)
        let accounts = try found.map { try $0.read(ArchivedAccount.account) }
        return MovedAccountPage(accounts, place: accounts.count < limit ? nil : place)
    }

    func accounts(_ ids: [AuthUser.ID]) async throws -> [MovedAccount?] {
        try index.lines(about: ids).map { try $0?.read(ArchivedAccount.account) }
    }

    func add(_ accounts: [MovedAccount], page: String) async throws -> [AccountOutcome] {
        try lines.write(try accounts.map(ArchivedAccount.line), as: page)
        index.forget()
        return accounts.map { _ in .kept }
    }
}

/// One line of an archive: an account, without what is nil, empty or false.
struct ArchivedAccount: Codable {
    var id: String
    var email: String?
    var isEmailVerified: Bool?
    var phoneNumber: String?
    var displayName: String?
    var photoURL: String?
    var isAnonymous: Bool?
    var isDisabled: Bool?
    var identities: [IdentityProvider]?
    var created: Timestamp?
    var lastSignIn: Timestamp?
    var claims: DocumentData?
    var passwordHash: ArchivedHash?

    static func line(_ account: MovedAccount) throws -> [UInt8] {
        let user = account.account.user
        return try JSONBytesEncoder().encode(
            ArchivedAccount(
                id: account.id, email: user.email, isEmailVerified: user.isEmailVerified ? true : nil,
                phoneNumber: user.phoneNumber, displayName: user.displayName, photoURL: user.photoURL?.absoluteString,
                isAnonymous: user.isAnonymous ? true : nil, isDisabled: account.account.isDisabled ? true : nil,
                identities: user.identities.isEmpty ? nil : user.identities,
                created: user.createdAt.map(Timestamp.init), lastSignIn: user.lastSignInAt.map(Timestamp.init),
                claims: account.account.claims.isEmpty
                    ? nil : DocumentData(account.account.claims.map { ($0.key, $0.value) }),
                passwordHash: account.passwordHash.map(ArchivedHash.init)))
    }

    static func account(_ line: [UInt8]) throws -> MovedAccount {
        let account: ArchivedAccount = try JSONBytesDecoder().decode(from: line)
        let user = AuthUser(
            id: account.id, email: account.email, isEmailVerified: account.isEmailVerified ?? false,
            phoneNumber: account.phoneNumber, displayName: account.displayName,
            photoURL: account.photoURL.flatMap { URL(string: $0) }, isAnonymous: account.isAnonymous ?? false,
            identities: account.identities ?? [], createdAt: account.created?.date,
            lastSignInAt: account.lastSignIn?.date)
        let claims = (account.claims ?? DocumentData()).map { ($0.name, $0.value) }
        return MovedAccount(
            ManagedAccount(
                user, isDisabled: account.isDisabled ?? false,
                claims: Dictionary(claims, uniquingKeysWith: { _, last in last })),
            passwordHash: try account.passwordHash?.passwordHash())
    }
}
