/// Why a project's database cannot be worked with yet. It lies under the error of the call, whose text says what to do.
public enum SupabaseSchemaProblem: Error, Sendable, Hashable {
    /// The functions are not there, or the data service has not noticed them yet.
    case missing
    /// They are of a version that lacks something this client calls.
    case tooOld(version: Int, needed: Int)
    /// They no longer serve clients as old as this one.
    case tooNew(version: Int)

    var message: String {
        switch self {
        case .missing:
            "The database lacks this client's functions. Install them with “switchyard supabase install”. A LocalSupabase in your "
                + "own process takes them as options.scripts = [DocumentSchema.sql]."
        case .tooOld(let version, let needed):
            "The database has version \(version) of this client's functions, which needs version \(needed). "
                + "Bring them up to date with “switchyard supabase install”."
        case .tooNew(let version):
            "The database has version \(version) of this client's functions, which serves only newer clients. "
                + "Update the app."
        }
    }
}
