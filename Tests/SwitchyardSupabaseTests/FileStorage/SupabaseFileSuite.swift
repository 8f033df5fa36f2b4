import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardTestSupport
import SwitchyardWire

@testable import SwitchyardSupabase

/// What tests of file storage need: clients on a scripted server, and what that server often says.
protocol SupabaseFileSuite {}

extension SupabaseFileSuite {
    static var root: String { "https://demo.supabase.co/storage/v1" }
    static var session: String { session(version: "v2") }

    /// The address of an upload to `a`, which says which version of the file it will make.
    static func session(version: String) -> String {
        root + "/upload/resumable/"
            + Base64.encode(Array("avatars/a/\(version)".utf8), alphabet: .url, padding: .absent)
    }

    func client(
        _ exchanges: [ScriptedExchange], address: String = Self.root, isPublic: Bool = false, folder: URL? = nil,
        user: @autoclosure @escaping @Sendable () -> AuthUser.ID = "alice",
        token: @escaping @Sendable (_ isRefused: Bool) throws(AuthError) -> Secret? = { isRefused in
            isRefused ? "new" : "old"
        }
    ) -> (ScriptedTransport, SupabaseFileStorageAdapter) {
        let transport = ScriptedTransport(exchanges)
        let service = SupabaseFileService(
            address: address, buckets: SupabaseBuckets(main: "avatars", isPublic: isPublic),
            tokens: SupabaseTokens(key: "key", issuer: .supabase) { isRefused throws(AuthError) in
                try token(isRefused).map {
                    AccessToken(value: $0, expiresAt: Timestamp(clampingSeconds: 0, nanoseconds: 0), userID: user())
                }
            }, transport: transport,
            persistently: RetryingCaller(clock: ImpatientClock(), patience: .seconds(120)),
            now: { Timestamp(clampingSeconds: 0, nanoseconds: 0) })
        return (transport, SupabaseFileStorageAdapter(service, folder: folder))
    }

    static func info(_ name: String, size: Int, version: String = "v2") -> ScriptedExchange {
        .on(
            .get, "\(root)/object/info/authenticated/avatars/\(name)",
            .json(
                #"{"name":"\#(name)","version":"\#(version)","size":\#(size),"content_type":"image/png","etag":"\"9b\"","metadata":{"alt":"face"},"last_modified":"2024-05-01T12:34:56.123Z"}"#
            ))
    }

    func failure(_ body: () async throws -> Void) async -> FileStorageError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? FileStorageError
        }
    }
}
