package org.mobilekit.demo.work

import android.app.Activity
import android.os.Bundle
import org.mobilekit.demo.DemoApplication

/** A screen with a [Session] behind it, which stays when the screen turns or changes its colours. */
abstract class SessionActivity<S : Session<*>> : Activity() {
    /** The app that all screens share. */
    protected val demo: DemoApplication get() = application as DemoApplication

    /** Of this screen, from [onCreate] on. */
    lateinit var session: S
        private set

    /** A session for a screen that is new. */
    protected abstract fun newSession(): S

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        @Suppress("UNCHECKED_CAST")
        session = lastNonConfigurationInstance as S? ?: newSession()
    }

    override fun onRetainNonConfigurationInstance(): Any = session

    override fun onDestroy() {
        session.unwatch()
        if (!isChangingConfigurations) session.close()
        super.onDestroy()
    }
}
