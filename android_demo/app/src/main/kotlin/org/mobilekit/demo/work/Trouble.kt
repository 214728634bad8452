package org.mobilekit.demo.work

import android.content.res.Resources
import org.mobilekit.core.ArtifactException
import org.mobilekit.core.EngineException
import org.mobilekit.core.MobilekitException
import org.mobilekit.demo.R
import java.io.Serializable
import java.util.concurrent.CancellationException

/** Why something did not work: what kind of thing it was, and what a person is told. */
data class Trouble(
    val kind: Kind,
    val said: String,
) : Serializable {
    /** Which advice helps. */
    enum class Kind { ARTIFACT, ENGINE, MEMORY, INPUT, CHECK, APP }
}

/** A result, or the trouble that came instead of it. */
sealed interface Attempt<out T> {
    /** It worked. */
    class Done<T>(
        val value: T,
    ) : Attempt<T>

    /** It did not. */
    class Failed(
        val trouble: Trouble,
    ) : Attempt<Nothing>

    /** It was cancelled. */
    data object Cancelled : Attempt<Nothing>
}

/**
 * Do [work], whatever it throws: the app shows a message, and does not end.
 *
 * The one place where everything is caught. Engines are other people's native code behind Java: they throw what they
 * like, and the memory of a phone ends early.
 */
@Suppress("TooGenericExceptionCaught")
internal fun <T> attempt(
    resources: Resources,
    work: () -> T,
): Attempt<T> =
    try {
        Attempt.Done(work())
    } catch (_: CancellationException) {
        Attempt.Cancelled
    } catch (error: Throwable) {
        Attempt.Failed(error.trouble(resources))
    }

/** What a person is told of an error. */
internal fun Throwable.trouble(resources: Resources): Trouble {
    val memory = generateSequence(this) { it.cause }.take(CAUSES).any { it is OutOfMemoryError }
    return when {
        memory -> Trouble(Trouble.Kind.MEMORY, resources.getString(R.string.trouble_memory))
        this is ArtifactException -> Trouble(Trouble.Kind.ARTIFACT, said())
        this is EngineException -> Trouble(Trouble.Kind.ENGINE, said())
        this is MobilekitException -> Trouble(Trouble.Kind.INPUT, said())
        this is LinkageError -> Trouble(Trouble.Kind.ENGINE, resources.getString(R.string.trouble_library, said()))
        else -> Trouble(Trouble.Kind.APP, resources.getString(R.string.trouble_app, said()))
    }
}

private fun Throwable.said(): String = message?.takeIf { it.isNotBlank() } ?: javaClass.simpleName

/** Causes may go in a circle. */
private const val CAUSES = 20
