import Switchyard
import SwitchyardBytes

@testable import SwitchyardSupabase

/// Why a read fails, if it does.
func failure(of service: PostgRESTService) async -> StorageError? {
    do throws(StorageError) {
        _ = try await service.call("switchyard_get", [:], isIdempotent: true)
        return nil
    } catch {
        return error
    }
}
